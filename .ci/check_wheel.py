"""Checks what a wheel holds: all three packages with their type marks, the vectors, no tests."""

import sys
import zipfile

names = set(zipfile.ZipFile(sys.argv[1]).namelist())
for package in ("ratatoskr_proto", "ratatoskr_transports", "ratatoskr"):
    for file in ("__init__.py", "py.typed"):
        assert f"{package}/{file}" in names, f"{package}/{file} is not in the wheel"
for file in ("README.md", "bug_reports.jsonl", "conformance.jsonl"):
    path = f"ratatoskr_proto/testing/vectors/{file}"
    assert path in names, f"{path} is not in the wheel"
tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
assert tops == {"ratatoskr_proto", "ratatoskr_transports", "ratatoskr"}, tops
print(f"{len(names)} files in the wheel")
