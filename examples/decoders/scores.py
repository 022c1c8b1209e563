"""The scores of other decoders, for docs/testing-kit.md.

pip install 'ratatoskr-sse[bench]'
python examples/decoders/scores.py            # prints the tables
python examples/decoders/scores.py --write    # puts them into docs/testing-kit.md
"""

import sys
from pathlib import Path

from libraries import LIBRARIES, Library, NotInstalled

from ratatoskr_proto.testing import Report, check_decoder

PAGE = Path(__file__).parents[2] / "docs" / "testing-kit.md"
LONGEST_SHOWN = 60
START, END = "<!-- scores -->\n", "<!-- end of scores -->\n"


def tables(reports: list[tuple[Library, Report]]) -> str:
    """Return the tables in Markdown: the scores, the rules that are broken, and their clauses."""
    scores = ["| decoder | version | checks passed |", "|---|---|---|"]
    missed = ["| decoder | rule | smallest input | public report |", "|---|---|---|---|"]
    clauses: dict[str, str] = {}
    for library, report in reports:
        scores.append(f"| {library.name} | {library.version()} | {score(report)} |")
        for failure in report:
            data = shown(failure.data) if failure.chunks else "any that is long"
            known = library.reports.get(failure.check, "none known")
            missed.append(f"| {library.name} | {failure.check} | {data} | {known} |")
            clauses[failure.check] = failure.clause
    rules = ["| rule | clause |", "|---|---|"]
    rules += [f"| {name} | {clause} |" for name, clause in sorted(clauses.items())]
    return "\n\n".join("\n".join(table) for table in (scores, missed, rules)) + "\n"


def shown(data: bytes) -> str:
    if len(data) <= LONGEST_SHOWN:
        return f"`{data!r}`"
    return f"`{data[:20]!r}` and so on, {len(data)} bytes"


def score(report: Report) -> str:
    total = len(report.checks)
    return f"{total - len(report)} of {total}"


def main() -> int:
    reports: list[tuple[Library, Report]] = []
    for library in LIBRARIES:
        try:
            reports.append((library, check_decoder(library.load())))
        except NotInstalled as error:
            print(error, file=sys.stderr)
    made = tables(reports)
    if "--write" not in sys.argv:
        print(made, end="")
    elif len(reports) == len(LIBRARIES):
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{START}\n{made}\n{END}{after}", encoding="utf-8")
    return 0 if len(reports) == len(LIBRARIES) else 1


if __name__ == "__main__":
    sys.exit(main())
