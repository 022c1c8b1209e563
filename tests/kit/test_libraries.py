"""Other decoders, through the adapters of examples/decoders: the kit finds their faults, and the
documents say what it finds.
"""

import re
from pathlib import Path

import pytest
from libraries import LIBRARIES, NotInstalled
from scores import END, PAGE, START, tables

from ratatoskr_proto.testing import check_decoder

README = Path(__file__).parents[2] / "README.md"
SCORES = PAGE.read_text(encoding="utf-8").partition(START)[2].partition(END)[0].strip()

SLOW = ("openai", "anthropic", "assel")
NAMES = [library.name for library in LIBRARIES]
every_library = pytest.mark.parametrize("library", LIBRARIES, ids=NAMES)
# The SDKs take seconds to be imported, and so does an input of assel to be made small.
quick_libraries = pytest.mark.parametrize(
    "library",
    [
        pytest.param(library, marks=[pytest.mark.slow] * (library.name in SLOW))
        for library in LIBRARIES
    ],
    ids=NAMES,
)


def factory_of(library):
    try:
        return library.load()
    except NotInstalled as error:
        pytest.skip(str(error))


def rows_of(library):
    """The cells of each row about a library: first its score, then the rules that it breaks."""
    rows = re.findall(rf"^\| {re.escape(library.name)} \| (.*) \|$", SCORES, re.MULTILINE)
    return [row.split(" | ") for row in rows]


@quick_libraries
def test_each_has_faults_with_small_inputs_and_they_are_on_the_page(quick, library):
    report = quick(factory_of(library))
    assert report
    (version, _), *missed = rows_of(library)
    known_to_be_long = {rule for rule, data, _ in missed if "and so on" in data}
    for failure in report:
        assert failure.check in known_to_be_long or 0 < len(failure.data) < 60
    if library.version() == version:
        assert {failure.check for failure in report} <= {rule for rule, _, _ in missed}


@every_library
def test_score_of_the_readme_is_that_of_the_page(library):
    table = [
        [cell.strip() for cell in line.split("|")]
        for line in README.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    (heads,) = [row for row in table if "Ratatoskr" in row]
    (scores,) = [row for row in table if "checks of the standard" in row[1]]
    told = {head: number for head, number in zip(heads[3:], scores[3:], strict=True) if head}
    (version, checks), *missed = rows_of(library)
    passed, total = checks.split(" of ")
    assert int(total) - int(passed) == len(missed)
    for head, number in told.items():
        if head.startswith(f"{library.name} "):
            assert (version in head, number) == (True, passed)
    assert scores[1].endswith(f", of {total}")


@pytest.mark.slow
@every_library
def test_the_page_has_all_that_a_library_breaks(library):
    report = check_decoder(factory_of(library))
    (version, _), *missed = rows_of(library)
    if library.version() != version:
        pytest.skip(f"the page is about {library.name} {version}, not {library.version()}")
    # Without the rules of cost, which have no input and may differ on a busy machine.
    shown = {failure.check for failure in report if failure.chunks}
    assert shown == {rule for rule, data, _ in missed if data != "any that is long"}
    assert tables([(library, report)]).startswith("| decoder | version | checks passed |")
