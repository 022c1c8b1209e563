"""``ratatoskr check-decoder``, and the adapters of examples/decoders, which it is shown with."""

import importlib.metadata
import json
import re
import sys

import pytest
import scores

from ratatoskr.cli import main
from ratatoskr_proto.testing import _check


@pytest.fixture(autouse=True)
def quick(request, monkeypatch):
    if request.node.get_closest_marker("slow"):
        return
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


PAGE = scores.PAGE.read_text(encoding="utf-8")


def check_peer(peer):
    """What a peer breaks, and what the page says it does, or None for another version of it."""
    if peer.name == "axio-sse":
        pytest.importorskip("axio_sse", reason="axio-sse needs Python 3.12")
    report = scores.check(peer)
    assert report
    assert all(len(failure.data) < 60 for failure in report if failure.chunks)
    if f"\n| {peer.name} | {importlib.metadata.version(peer.name)} | " not in PAGE:
        return report, None
    rows = re.findall(rf"^\| {peer.name} \| (.+?) \| (.*) \| .* \|$", PAGE, re.MULTILINE)
    return report, {rule: data != "any that is long" for rule, data in rows}


SDKS = ("openai", "anthropic")  # which take seconds to import


@pytest.mark.parametrize(
    "peer",
    [peer for peer in scores.PEERS if peer.name not in SDKS],
    ids=lambda peer: peer.name,
)
def test_in_each_peer_it_finds_small_inputs(peer):
    report, known = check_peer(peer)
    assert known is None or {failure.check for failure in report} <= set(known)


@pytest.mark.slow
@pytest.mark.parametrize("peer", scores.PEERS, ids=lambda peer: peer.name)
def test_the_page_has_all_that_a_peer_breaks(peer):
    report, known = check_peer(peer)
    if known is not None:
        # Without those of cost, which have no input and may differ on a busy machine.
        found = {failure.check for failure in report if failure.chunks}
        assert found == {rule for rule, has_input in known.items() if has_input}


def test_the_readme_has_the_scores_of_the_page():
    passed = dict(re.findall(r"^\| (\S+) \| \S+ \| (\d+) of 35 \|$", PAGE, re.MULTILINE))
    assert list(passed) == [peer.name for peer in scores.PEERS]
    readme = (scores.PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    head, rule = (
        re.search(rf"^\|(.*{text}.*)\|$", readme, re.MULTILINE).group(1).split("|")
        for text in ("Ratatoskr", "passed, of 35")
    )
    for peer, score in list(zip(head, rule, strict=True))[2:]:
        assert passed[peer.split()[0]] == score.strip()
