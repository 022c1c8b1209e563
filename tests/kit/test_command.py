"""``ratatoskr check-decoder``."""

import json
import re
import subprocess
import sys

import pytest

from ratatoskr.cli import main

pytestmark = pytest.mark.usefixtures("quick", "_own_path")


@pytest.fixture
def _own_path(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])


def run(capsys, *arguments):
    code = main(["check-decoder", *arguments])
    return code, *capsys.readouterr()


def test_what_passes_exits_0(capsys):
    code, out, err = run(capsys, "ratatoskr_proto:EventStreamDecoder", "--prompt")
    assert (code, err) == (0, "")
    assert out.count("│ passed │") == 37
    assert out.endswith("37 of 37 checks passed\n")


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """The name of a factory in the current directory, whose decoders keep the BOM."""
    (tmp_path / "my_parser.py").write_text(
        "from ratatoskr_proto import EventStreamDecoder\n"
        "class Parser(EventStreamDecoder):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        super().receive_data(b':\\n')\n"
    )
    monkeypatch.chdir(tmp_path)
    yield "my_parser:Parser"
    sys.modules.pop("my_parser", None)


def test_what_fails_exits_1_and_is_a_row_with_the_smallest_input(capsys, broken):
    code, out, err = run(capsys, broken)
    assert (code, err) == (1, "")
    (row,) = [line for line in out.splitlines() if "│ failed │" in line]
    assert [cell.strip() for cell in row.split("│")[1:-1]] == [
        "failed",
        "One leading BOM is dropped",
        r"b'\xef\xbb\xbfdata\n\n'",
    ]
    assert "expected: [('message', '', '')]\n  came:     []\n" in out


def test_json(capsys, broken):
    code, out, _ = run(capsys, broken, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    (failed,) = [line for line in lines if not line["passed"]]
    assert failed["check"] == "One leading BOM is dropped"
    assert failed["chunks"] == [failed["input"]] == [r"b'\xef\xbb\xbfdata\n\n'"]
    assert len(lines) == 35


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("ratatoskr_proto", "'ratatoskr_proto' is not MODULE:FACTORY, such as my_parser:Decoder"),
        ("no_such_module:x", "cannot load no_such_module:x: ModuleNotFoundError: "),
        ("ratatoskr_proto:Nope", "cannot load ratatoskr_proto:Nope: AttributeError: "),
        ("json:dumps", "check_decoder() takes a callable that returns a new decoder each time"),
    ],
)
def test_what_is_no_factory_is_one_line_and_exits_2(capsys, target, said):
    code, out, err = run(capsys, target)
    assert (code, out) == (2, "")
    assert err.startswith(f"ratatoskr: {said}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("place", ["module", "factory", "decoder"])
def test_what_ends_the_process_has_not_passed(capsys, tmp_path, monkeypatch, place):
    (tmp_path / f"ending_{place}.py").write_text(
        "import sys\n"
        f"place = {place!r}\n"
        "if place == 'module': sys.exit()\n"
        "class Parser:\n"
        "    def __init__(self):\n"
        "        if place == 'factory': sys.exit()\n"
        "    def receive_data(self, chunk): sys.exit()\n"
        "    def receive_eof(self): return []\n"
    )
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, f"ending_{place}:Parser")
    assert (code, out) == (2 if place == "module" else 1, "")
    assert err.startswith("ratatoskr: ")
    assert "SystemExit" in err
    assert err.count("\n") == 1


def test_a_decoder_that_hangs_is_given_up_with_the_place_and_exits_1(tmp_path):
    (tmp_path / "hanging.py").write_text(
        "import time\n"
        "class Parser:\n"
        "    def receive_data(self, chunk):\n"
        "        while True: time.sleep(1)\n"
        "    def receive_eof(self): return []\n"
    )
    command = [sys.executable, "-m", "ratatoskr", "check-decoder", "hanging:Parser"]
    run = subprocess.run(
        [*command, "--timeout", "0.1"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (1, "")
    said = (
        r"ratatoskr: the decoder has not returned for 0\.1 seconds: it is at (.*), fed with (.*)\n"
    )
    place, fed = re.fullmatch(said, run.stderr).groups()
    assert place.endswith("hanging.py, line 4, in receive_data")
    assert fed == r"[b'data: a\n\n']"
