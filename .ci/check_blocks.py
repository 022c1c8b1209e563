"""Checks the types of the Python blocks of the pages, as mypy sees them in a user's program."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

with tempfile.TemporaryDirectory() as folder:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for match in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
            # Under its own line numbers, so that what mypy says can be found in the page.
            lines = text.count("\n", 0, match.start(1))
            name = f"{page.stem.replace('-', '_').lower()}_{lines}.py"
            Path(folder, name).write_text("\n" * lines + match[1], encoding="utf-8")
    options = ["--config-file", str(ROOT / "pyproject.toml")]
    options += ["--cache-dir", str(ROOT / ".mypy_cache" / "pages")]
    options += ["--allow-untyped-defs", "--allow-untyped-calls"]
    run = subprocess.run([sys.executable, "-m", "mypy", *options, "."], cwd=folder)
sys.exit(run.returncode)
