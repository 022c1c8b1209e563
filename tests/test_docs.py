"""The documents are true: their Python runs, the README's commands are those of CI, links lead
somewhere, and tables about the code are up to date. CI builds the pages themselves.
"""

import importlib
import importlib.util
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    (page.name, block)
    for page in PAGES
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
]
REFERENCE = [
    "ratatoskr_proto",
    "ratatoskr_proto.dialects",
    "ratatoskr_proto.testing",
    "ratatoskr_transports",
    "ratatoskr_transports.httpx",
    "ratatoskr_transports.testing",
]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_there_are_blocks():
    assert len(BLOCKS) >= 4


@pytest.mark.parametrize(("page", "block"), BLOCKS)
def test_python_of_the_documents_runs(page, block):
    exec(compile(block, f"<{page}>", "exec"), {"__name__": "example"})


def test_ci_calls_the_test_command_of_the_readme_word_for_word():
    commands = re.findall(r"```console\n(.*)\n```", read("README.md"))
    assert len(commands) == 2
    assert commands[1] in [line.strip() for line in read(".ci/run").split("\n")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_the_documents_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


def test_all_lists_of_pythons_are_the_same():
    pythons = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', read("pyproject.toml"))
    text = str(pythons).replace("'", '"')
    assert f"PYTHONS = {text}\n" in read("noxfile.py")
    assert f"python: {text}\n" in read(".github/workflows/tests.yml")
    assert f"for version in {' '.join(pythons[1:])}; do\n" in read(".ci/run")
    assert f'requires-python = ">={pythons[0]}"\n' in read("pyproject.toml")


@pytest.fixture(scope="module")
def tracked():
    """The texts of all files that are in version control, by their names."""
    try:
        run = ["git", "ls-files", "-z"]
        names = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs a clone and git")
    paths = [(name, ROOT / name) for name in names.split("\0") if name]
    return {
        name: path.read_text(encoding="utf-8", errors="replace")
        for name, path in paths
        if path.is_file()
    }


def test_every_install_hint_names_the_distribution(tracked):
    # On the registry, "ratatoskr" is another project.
    hint = re.compile(
        r"(?:(?:pip3?|pipx|uv pip|uv tool) install|uv add|uvx)\b"
        r"[^\n`&;|]*?[\s'\"]ratatoskr(?![\w-])"
        r"|\bratatoskr\[\w+[\],]"
    )
    found = {name: hint.findall(text) for name, text in tracked.items()}
    assert {name: hints for name, hints in found.items() if hints} == {}


def test_every_page_is_in_the_contents():
    contents = read("mkdocs.yml")
    for page in (ROOT / "docs").rglob("*.md"):
        assert f": {page.relative_to(ROOT / 'docs').as_posix()}\n" in contents


@pytest.mark.parametrize("module", REFERENCE)
def test_the_reference_has_every_public_name(module):
    pages = "\n".join(read(page) for page in (ROOT / "docs" / "reference").glob("*.md"))
    found = re.findall(rf"^::: {re.escape(module)}\.(\w+)$", pages, re.MULTILINE)
    assert sorted(found) == sorted(importlib.import_module(module).__all__)


def test_the_picture_of_the_states_is_that_of_the_table():
    spec = importlib.util.spec_from_file_location("draw_states", ROOT / "docs" / "draw_states.py")
    draw_states = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw_states)
    assert draw_states.PICTURE.read_text(encoding="utf-8") == draw_states.draw()


def test_the_quick_start_names_every_extra():
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    table = re.findall(r"^\| (`.*`) \|", read("docs/index.md"), re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(table))) == sorted(extras)
