"""The scores of other decoders, as docs/testing-kit.md has them.

pip install 'ratatoskr-sse[bench]'
python examples/decoders/scores.py            # prints the tables
python examples/decoders/scores.py --write    # puts them into docs/testing-kit.md
"""

import importlib
import importlib.metadata
import sys
from pathlib import Path
from typing import NamedTuple

from ratatoskr_proto.testing import Report, check_decoder

PAGE = Path(__file__).parents[2] / "docs" / "testing-kit.md"
START, END = "<!-- scores -->\n", "<!-- end of scores -->\n"


class Peer(NamedTuple):
    """A decoder: its distribution, its adapter, and the public reports that there are of a rule."""

    name: str
    module: str
    factory: str
    reports: dict[str, str]


EMPTY_BLOCKS = (
    "A retry field is no event and spoils none",
    "A block without data is no event, but its id counts",
    "A block without data leaves no event type",
)

PEERS = (
    Peer(
        "httpx-sse",
        "httpx_sse_adapter",
        "HttpxSse",
        {
            **dict.fromkeys(EMPTY_BLOCKS, "florimondmanca/httpx-sse#36"),
            "An event carries the last id of the stream": "florimondmanca/httpx-sse#35",
        },
    ),
    # There it is kept on purpose.
    Peer("httpx2", "httpx2_adapter", "Httpx2", dict.fromkeys(EMPTY_BLOCKS, "pydantic/httpx2#1048")),
    Peer("axio-sse", "axio_sse_adapter", "AxioSse", {}),
    Peer("launchdarkly-eventsource", "launchdarkly_adapter", "LaunchDarkly", {}),
    Peer("sseclient-py", "sseclient_py_adapter", "SseclientPy", {}),
    Peer(
        "openai",
        "openai_adapter",
        "OpenAI",
        {"One leading BOM is dropped": "openai/openai-python#3819"},
    ),
    Peer("anthropic", "anthropic_adapter", "Anthropic", {}),
)


def check(peer: Peer) -> Report | None:
    """The report on a peer, or None if it is not installed."""
    try:
        factory = getattr(importlib.import_module(peer.module), peer.factory)
    except ModuleNotFoundError as error:
        print(f"{peer.name} is not installed: no module {error.name}", file=sys.stderr)
        return None
    return check_decoder(factory)


def tables(reports: list[tuple[Peer, Report]]) -> str:
    """The tables in Markdown: the scores, what they miss, and the clauses of that."""
    scores = ["| decoder | version | checks passed |", "|---|---|---|"]
    missed = ["| decoder | rule | smallest input | public report |", "|---|---|---|---|"]
    clauses: dict[str, str] = {}
    for peer, report in reports:
        total = len(report.checks)
        version = importlib.metadata.version(peer.name)
        scores.append(f"| {peer.name} | {version} | {total - len(report)} of {total} |")
        for failure in report:
            data = f"`{failure.data!r}`" if failure.chunks else "any that is long"
            known = peer.reports.get(failure.check, "none known")
            missed.append(f"| {peer.name} | {failure.check} | {data} | {known} |")
            clauses[failure.check] = failure.clause
    rules = ["| rule | clause |", "|---|---|"]
    rules += [f"| {name} | {clause} |" for name, clause in sorted(clauses.items())]
    return "\n\n".join("\n".join(table) for table in (scores, missed, rules)) + "\n"


def main() -> int:
    checked = [(peer, check(peer)) for peer in PEERS]
    reports = [(peer, report) for peer, report in checked if report is not None]
    made = tables(reports)
    if "--write" not in sys.argv:
        print(made, end="")
    elif len(reports) == len(PEERS):
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{START}\n{made}\n{END}{after}", encoding="utf-8")
    return 0 if len(reports) == len(PEERS) else 1


if __name__ == "__main__":
    sys.exit(main())
