"""What the documents say works: their Python runs, and the README's commands are those of CI."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    (page.name, block)
    for page in PAGES
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
]


def test_there_are_blocks():
    assert len(BLOCKS) >= 4


@pytest.mark.parametrize(("page", "block"), BLOCKS)
def test_python_of_the_documents_runs(page, block):
    exec(compile(block, page, "exec"), {"__name__": "example"})


def test_ci_calls_the_test_command_of_the_readme_word_for_word():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"```console\n(.*)\n```", readme)
    assert len(commands) == 2
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").split("\n")
    assert commands[1] in [line.strip() for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_the_documents_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link
