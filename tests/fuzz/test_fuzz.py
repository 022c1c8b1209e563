"""Every target holds for its seeds and finds, and what breaks a rule is found, shrunk and kept."""

import importlib

import pytest

from fuzz import TARGETS, run
from fuzz.shrinking import shrunk


@pytest.fixture
def _blind(monkeypatch, tmp_path):
    """Without atheris, and in a place of its own."""
    monkeypatch.setattr(run, "OUT", tmp_path)
    monkeypatch.setattr(run.importlib.util, "find_spec", lambda name: None)


@pytest.mark.parametrize("name", TARGETS)
def test_target_holds_for_its_seeds_and_finds(name):
    check = importlib.import_module(f"fuzz.{name}").check
    inputs = set(run.corpus(name, []))
    assert len(inputs) > 50
    for data in inputs | {b"", b"\xff", bytes(range(256))}:
        check(data)


def failing(data):
    assert b"retry" not in data


def test_smallest_input_is_what_makes_it_fail():
    assert shrunk(failing, b"x" * 99 + b"retry" + b"y" * 99) == b"retry"


@pytest.mark.usefixtures("_blind")
def test_what_fails_is_kept_and_run_again(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("fuzz.wire.check", failing)
    monkeypatch.setattr("fuzz.wire.seeds", lambda: [b"", b"ret", b"ry", b"etr"])
    assert run.main(["wire", "--seconds", "60"]) == 1
    [file] = (tmp_path / "wire" / "finds").iterdir()
    assert file.read_bytes() == b"retry"
    assert "a find of 5 bytes" in capsys.readouterr().out
    assert run.main(["wire", "--seconds", "0"]) == 1
    monkeypatch.setattr("fuzz.wire.check", lambda data: None)
    assert run.main(["wire", "--seconds", "0"]) == 0
    assert capsys.readouterr().out.endswith(" 0 finds (blind, 5 inputs)\n")


def test_path_that_is_not_there_is_an_error(capsys, tmp_path):
    with pytest.raises(SystemExit) as ended:
        run.main(["wire", str(tmp_path), str(tmp_path / "nofile"), "--seconds", "0"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"there is no file or folder {tmp_path / 'nofile'}\n")


@pytest.mark.usefixtures("_blind")
def test_mutations_are_run_for_a_time(capsys):
    assert run.main(["encode", "--seconds", "0.05"]) == 0
    assert "0 finds (blind" in capsys.readouterr().out
