"""Checks what distributions hold: all three packages with their type marks, the vectors, no tests;
and the wire layer in C where the tag of a wheel says so, its source in a source distribution.
"""

import sys
import tarfile
import zipfile
from pathlib import Path

PACKAGES = {"ratatoskr_proto", "ratatoskr_transports", "ratatoskr"}
VECTORS = ("README.md", "bug_reports.jsonl", "conformance.jsonl")
WANTED = {f"{package}/{file}" for package in PACKAGES for file in ("__init__.py", "py.typed")}
WANTED |= {f"ratatoskr_proto/testing/vectors/{file}" for file in VECTORS}


def check_wheel(path: Path) -> None:
    names = set(zipfile.ZipFile(path).namelist())
    assert names >= WANTED, f"{WANTED - names} are not in {path.name}"
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == PACKAGES, tops
    binaries = [name for name in names if name.endswith((".so", ".pyd"))]
    if path.stem.endswith("-py3-none-any"):
        assert not binaries, f"{path.name} is pure, and holds {binaries}"
    else:
        assert "-cp311-abi3-" in path.name, path.name
        assert len(binaries) == 1, f"{path.name} holds {binaries}"
    print(f"{path.name}: {len(names)} files")


def check_source(path: Path) -> None:
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = WANTED | {"ratatoskr_proto/_wire_c.c", "setup.py", "pyproject.toml", "LICENSE"}
    wanted |= {"tests/conftest.py", "docs/index.md", "examples/show_turn.py", ".ci/run"}
    assert names >= wanted, f"{wanted - names} are not in {path.name}"
    assert not [name for name in names if name.endswith((".so", ".pyd", ".pyc"))]
    print(f"{path.name}: {len(names)} files")


for argument in sys.argv[1:]:
    file = Path(argument)
    (check_wheel if file.suffix == ".whl" else check_source)(file)
