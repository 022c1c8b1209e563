"""The checks as sessions, each in an environment of its own. They run on Windows too.

pip install nox
nox                    # lint, docs, and the suite on each supported Python that is installed
nox -s lint            # ruff, mypy and pyright
nox -s tests-3.13      # the suite on one Python
nox -s tests-3.13 -- -x tests/proto
nox -s oldest          # the suite with the lower bounds of pyproject.toml, on the oldest Python
nox -s slow            # the tests that the default run leaves out
nox -s docs            # the pages, into site/
nox -s fuzz -- --minutes 10
"""

import re
from pathlib import Path

import nox

nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["lint", "docs", "tests"]

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


@nox.session
def lint(session: nox.Session) -> None:
    """Check lint, format and types."""
    session.install("-e", ".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("basedpyright")
    session.run("python", ".ci/check_blocks.py")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the pages and check their links; warnings are errors."""
    session.install("-e", ".[docs]")
    session.run("mkdocs", "build", "--strict", env={"NO_MKDOCS_2_WARNING": "1"})
    session.run("python", ".ci/check_docs.py", "site")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Fuzz each target for ten seconds, or as long as the arguments say."""
    session.install("-e", ".[dev,fuzz]")
    session.run("python", "tests/fuzz", "all", *(session.posargs or ["--seconds", "10"]))


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the suite with the newest dependencies."""
    session.install("-e", ".[dev]")
    run_suite(session)


@nox.session(python=PYTHONS[0])
def oldest(session: nox.Session) -> None:
    """Run the suite with each dependency at its lower bound."""
    constraints = Path(session.create_tmp()) / "oldest.txt"
    constraints.write_text("\n".join(lower_bounds()), encoding="utf-8")
    session.install("-e", ".[dev]", "-c", str(constraints))
    # On a target that is no URL, httpx2 before 2.16.1 fails as httpx does.
    outcome = "tests/transports/test_faults.py::test_fault_has_its_outcome"
    case = "a redirect to what is no URL-httpx2"
    skipped = [f"--deselect={outcome}[{case}{sync}]" for sync in ("", "-sync")]
    run_suite(session, *skipped)


@nox.session
def slow(session: nox.Session) -> None:
    """Run the tests that take too long for every run."""
    session.install("-e", ".[dev]")
    run_suite(session, "-m", "slow", "-o", "faulthandler_timeout=600")


def run_suite(session: nox.Session, *arguments: str) -> None:
    """Run pytest with these arguments and with those after "--" on the command line."""
    session.run("pytest", "-q", "-n", "auto", "--dist", "worksteal", *arguments, *session.posargs)


def lower_bounds() -> list[str]:
    """The oldest versions that pyproject.toml allows: "h11==0.16" for "h11>=0.16"."""
    extras = nox.project.load_toml("pyproject.toml")["project"]["optional-dependencies"]
    every = "\n".join(each for extra in extras.values() for each in extra)
    bounds = re.findall(r"^([\w-]+)(?:\[.*?\])?>=([\d.]+)", every, re.MULTILINE)
    return sorted({f"{name}=={version}" for name, version in bounds})
