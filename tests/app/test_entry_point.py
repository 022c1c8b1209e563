"""The command itself: its name, its help, and what it says when it cannot be imported."""

import sys
from importlib import metadata

import pytest

from ratatoskr.cli import cli, main


def test_the_script_runs_the_same_as_the_module():
    (script,) = metadata.entry_points(group="console_scripts", name="ratatoskr")
    assert script.value == "ratatoskr.__main__:main"


def test_the_module_can_be_run(run_process):
    run = run_process("--version")
    assert metadata.version("ratatoskr-sse").encode() in run.stdout
    assert run.code == 0


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["decode", "--help"], ["--version"]])
def test_help_is_on_stdout_and_exits_0(capsys, arguments):
    assert main(arguments) == 0
    assert "ratatoskr" in capsys.readouterr().out


def test_no_arguments_print_the_help_on_stderr_and_exit_2(capsys):
    assert main([]) == 2
    assert "decode" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "near"), [("tial", "tail"), ("checkdecoder", "check-decoder"), ("trun", "turn")]
)
def test_a_mistyped_command_is_told_what_is_near(capsys, command, near):
    assert main([command]) == 2
    said = f"ratatoskr: No such command '{command}'; did you mean {near}?\n"
    assert capsys.readouterr().err == said


def test_the_help_lists_the_exit_codes(capsys):
    main(["--help"])
    text = capsys.readouterr().out
    assert all(f"\n    {code} " in text for code in (0, 2, 20, 21, 22, 23, 130))


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "ratatoskr: interrupted\n"),
        (BrokenPipeError(), 0, ""),
        (OSError(28, "full"), 2, "ratatoskr: cannot write to stdout: full\n"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_comes_out_of_task_groups_is_told_as_if_it_came_alone(
    capsys, monkeypatch, error, code, said
):
    def fail(**options):
        raise BaseExceptionGroup("outer", [BaseExceptionGroup("inner", [error])])

    monkeypatch.setattr(cli.get_command(None, "demo"), "callback", fail)
    monkeypatch.setattr("ratatoskr.cli.discard_output", lambda stream: None)
    assert main(["demo"]) == code
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("name", "command"), [("click", ["decode"]), ("httpx", ["turn", "http://127.0.0.1", "-m", ""])]
)
def test_a_missing_module_is_named_with_the_extra_to_install(
    run_process, without_module, name, command
):
    run = run_process(*command, command=without_module(name))
    assert run.said == [
        f"ratatoskr: the command needs {name}; install it with: pip install 'ratatoskr-sse[app]'"
    ]
    assert (run.code, run.stdout) == (2, b"")


def test_a_module_of_our_own_that_is_missing_is_no_missing_extra(run_process, without_module):
    run = run_process("decode", command=without_module("ratatoskr.cli.decode"))
    assert run.said[-1].startswith("ModuleNotFoundError: ")
    assert run.code == 1


def test_ctrl_c_while_it_starts_is_one_line_and_exit_code_130(run_process):
    script = """
import sys

class Interrupted:
    def find_spec(name, path=None, target=None):
        if name == "click":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted)
from ratatoskr.__main__ import main
sys.exit(main())
"""
    run = run_process("demo", command=[sys.executable, "-W", "error", "-c", script])
    assert run.said == ["ratatoskr: interrupted"]
    assert (run.code, run.stdout) == (130, b"")
