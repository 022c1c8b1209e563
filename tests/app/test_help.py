"""The help of every command, and its completion in a shell."""

import re

import click
import pytest

from ratatoskr.cli import cli

COMMANDS = cli.list_commands(None)


def test_all_commands_are_there():
    assert {"decode", "demo", "serve", "tail", "tui", "turn"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_teaches_with_an_example(run_main, command):
    run = run_main(command, "--help")
    examples = run.stdout.decode().partition("Examples:\n")[2]
    assert re.search(rf"^    .*ratatoskr {command}", examples, re.MULTILINE)
    assert (run.stderr, run.code) == (b"", 0)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_says_what_it_does(command):
    options = [
        each for each in cli.get_command(None, command).params if isinstance(each, click.Option)
    ]
    assert [each.name for each in options if not each.help] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_fits_a_terminal(run_main, command):
    lines = run_main(command, "--help").stdout.decode().splitlines()
    assert [line for line in lines if len(line) > 90] == []


def test_the_list_of_commands_cuts_no_sentence_off(run_main):
    listed = run_main("--help").stdout.decode().partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == COMMANDS
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_given_its_completion(run_main, monkeypatch, shell):
    monkeypatch.setenv("_RATATOSKR_COMPLETE", f"{shell}_source")
    run = run_main()
    assert b"_RATATOSKR_COMPLETE" in run.stdout
    assert run.code == 0


@pytest.fixture
def complete(run_main, monkeypatch):
    """Completes the last word of a command line, as bash asks for it; gives the words."""

    def complete(line):
        monkeypatch.setenv("_RATATOSKR_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
        run = run_main()
        assert run.code == 0
        return [word.partition(",")[2] for word in run.stdout.decode().split()]

    return complete


def test_a_command_is_completed(complete):
    assert complete("ratatoskr t") == ["tail", "tui", "turn"]


def test_a_dialect_is_completed(complete):
    assert complete("ratatoskr turn --dialect open") == ["openai-chat", "openai-responses"]
    assert complete("ratatoskr decode --dialect a") == ["anthropic"]


@pytest.mark.parametrize("option", ["--record", "--cacert", "--cert", "--key"])
def test_a_file_is_left_to_the_shell(complete, option):
    assert complete(f"ratatoskr turn {option} x") == ["x"]
    assert complete("ratatoskr serve --replay x") == ["x"]
    assert complete("ratatoskr decode x") == ["x"]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_an_option_that_there_is_not_is_one_line(run_main, command):
    run = run_main(*command, "--nope")
    assert (run.stdout, len(run.said), run.code) == (b"", 1, 2)
    assert run.said[0].startswith("ratatoskr: No such option")


def test_the_app_says_that_it_needs_a_terminal(run_main):
    run = run_main("tui")
    assert run.said[0].startswith("ratatoskr: the app needs a terminal ")
    assert run.code == 2
