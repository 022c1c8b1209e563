"""``python tests/fuzz TARGET``: see run.py."""

import contextlib
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])  # "fuzz" and "support", as pytest sees them

from fuzz.run import main  # noqa: E402

with contextlib.suppress(KeyboardInterrupt):
    sys.exit(main())
sys.exit(130)
