"""Puts the tables of a run into docs/performance.md.

    python -m benchmarks --markdown 3.13.md --plot docs/performance.svg
    python -m benchmarks.page 3.13.md

The page keeps the tables of each Python between a pair of comments that name it. They are found by
the first line of the file, which says which Python it was.
"""

from __future__ import annotations

import re
from pathlib import Path

import click

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


def put(page: str, tables: str) -> str:
    """The page with these tables. Raises ValueError if it has no place for them."""
    found = re.match(r"\w+ (\d+\.\d+)", tables)
    if found is None:
        raise ValueError("the file does not begin with the name and version of a Python")
    start, end = f"<!-- figures of {found[1]} -->\n", f"<!-- end of {found[1]} -->\n"
    if start not in page or end not in page:
        raise ValueError(f"the page has no place for the figures of {found[1]}")
    before, _, rest = page.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n{tables.strip()}\n\n{end}{after}"


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(files: tuple[Path, ...]) -> None:
    """Put the tables that --markdown wrote into docs/performance.md."""
    page = PAGE.read_text(encoding="utf-8")
    for file in files:
        try:
            page = put(page, file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise click.ClickException(f"{file.name}: {error}") from None
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
