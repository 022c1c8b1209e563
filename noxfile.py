"""The suite on each Python that is supported, and with the oldest dependencies that are allowed.

pip install nox
nox                    # all of them, as far as these Pythons are installed
nox -s tests-3.13
nox -s oldest          # the lower bounds of pyproject.toml, on the oldest Python
nox -s oldest -- -x
nox -s slow            # the tests that the default run leaves out
"""

import re
from pathlib import Path

import nox

nox.options.error_on_missing_interpreters = False

PYTHONS = ["3.11", "3.12", "3.13"]


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


@nox.session(python=PYTHONS[-1])
def slow(session: nox.Session) -> None:
    """Run the tests that take too long for every run."""
    session.install("-e", ".[dev]")
    run_suite(session, "-m", "slow", "-o", "faulthandler_timeout=600")


def run_suite(session: nox.Session, *arguments: str) -> None:
    """Run pytest with these arguments and those behind "--" on the command line."""
    session.run("pytest", "-q", "-n", "auto", "--dist", "worksteal", *arguments, *session.posargs)


def lower_bounds() -> list[str]:
    """What pyproject.toml allows at least, as constraints: "h11==0.16" for "h11>=0.16"."""
    extras = nox.project.load_toml("pyproject.toml")["project"]["optional-dependencies"]
    every = "\n".join(each for extra in extras.values() for each in extra)
    bounds = re.findall(r"^([\w-]+)(?:\[.*?\])?>=([\d.]+)", every, re.MULTILINE)
    return sorted({f"{name}=={version}" for name, version in bounds})
