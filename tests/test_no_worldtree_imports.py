"""Nothing of the server's own code is imported: no top-level module `core` or `worldtree`."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
# What may be such an import. To parse all files takes long.
SUSPECT = re.compile(r"\b(?:from|import)\b.*\b(?:core|worldtree)\b")


def test_no_worldtree_imports():
    folders = ["ratatoskr_proto", "ratatoskr_transports", "ratatoskr", "tests", "examples"]
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert paths
    for path in paths:
        text = path.read_text(encoding="utf-8")
        if not SUSPECT.search(text.replace("\\\n", " ")):
            continue
        for node in ast.walk(ast.parse(text)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            assert not {name.split(".")[0] for name in names} & {"core", "worldtree"}, path
