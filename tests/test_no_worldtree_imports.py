"""Nothing of the server's own code is imported: no top-level module `core` or `worldtree`."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_no_worldtree_imports():
    folders = ["ratatoskr_proto", "ratatoskr_transports", "ratatoskr", "tests", "examples"]
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert paths
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            assert not {name.split(".")[0] for name in names} & {"core", "worldtree"}, path
