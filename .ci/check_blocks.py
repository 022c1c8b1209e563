"""Checks the types of the Python blocks of the pages, as mypy sees them in a user's program."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGES = [*Path().glob("*.md"), *Path("docs").rglob("*.md")]

with tempfile.TemporaryDirectory() as folder:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
            # Under its own line numbers, so that what mypy says can be found in the page.
            first = text.count("\n", 0, match.start(1))
            name = f"{page.stem.replace('-', '_').lower()}_{first}.py"
            Path(folder, name).write_text("\n" * first + match[1], encoding="utf-8")
    files = sorted(map(str, Path(folder).iterdir()))
    options = ["--allow-untyped-defs", "--allow-untyped-calls"]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *files],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    print(run.stdout.replace(folder, "page "), run.stderr, sep="", end="")
sys.exit(run.returncode)
