"""``ratatoskr check-decoder``, and the adapters of examples/decoders, which it is shown with."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from ratatoskr.cli import main
from ratatoskr_proto.testing import _check, check_decoder

EXAMPLES = Path(__file__).parents[2] / "examples" / "decoders"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(_check, "SHAPES", {})
    monkeypatch.setattr(_check, "_RANDOM_STREAMS", 0)
    monkeypatch.setattr(_check, "vector_streams", list)
    monkeypatch.setattr(_check, "_FEW_PLACES", 8)
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
        "    def receive_data(self, chunk):\n"
        "        self._start = None\n"
        "        return super().receive_data(chunk)\n"
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


PEERS = {
    "httpx_sse_adapter": "HttpxSse",
    "httpx2_adapter": "Httpx2",
    "axio_sse_adapter": "AxioSse",
    "launchdarkly_adapter": "LaunchDarkly",
    "sseclient_py_adapter": "SseclientPy",
}


@pytest.mark.parametrize("name", PEERS)
def test_in_each_peer_it_finds_small_inputs(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        pytest.skip(f"no module {error.name}")
    report = check_decoder(getattr(module, PEERS[name]))
    assert report
    assert all(0 < len(failure.data) < 60 for failure in report)


def test_the_page_has_the_scores_of_all_peers():
    page = (EXAMPLES.parents[1] / "docs" / "testing-kit.md").read_text(encoding="utf-8")
    for name in ("httpx-sse", "httpx2", "axio-sse", "launchdarkly-eventsource", "sseclient-py"):
        assert page.count(f"\n| {name} | ") > 1
