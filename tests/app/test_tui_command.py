"""The options of ``ratatoskr tui``."""

import sys

import pytest

import ratatoskr.cli.commands.tui
import ratatoskr.tui

URL = "http://127.0.0.1:9/"


@pytest.fixture
def given(monkeypatch):
    """What the app was made with, each time."""

    class App:
        return_code = 0
        driver_class = object

        def __init__(self, url, **options):
            given.append((url, options))

        def run(self):
            pass

    given = []
    monkeypatch.setattr(ratatoskr.cli.commands.tui, "is_terminal", lambda stream: True)
    monkeypatch.setattr(ratatoskr.tui, "RatatoskrApp", App)
    return given


def test_the_options_of_streams_reach_the_app(given, run_main):
    url = "http://127.0.0.1/"
    options = ["--reconnect", "--event-timeout", "5", "--max-event-bytes", "9", "--record", "x"]
    assert run_main("tui").code == 0
    assert run_main("tui", url, *options, "-H", "X-Key: secret", "--transport", "anyio").code == 0
    (first_url, first), (second_url, second) = given
    assert (first_url, first["reconnect"], first["record"]) == (None, False, None)
    assert (second_url, second["reconnect"], second["record"]) == (url, True, "x")
    assert second["options"].items() >= {"event_timeout": 5.0, "max_event_bytes": 9}.items()
    assert second["connector"].transport == "anyio"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--transport", "trio"], "the app runs on asyncio; use --transport httpx or anyio"),
        (["--cacert", "nowhere"], "cannot use the certificates in 'nowhere'"),
        (["-H", "secret"], "--header: a header is written 'Name: value'"),
        (["notaurl"], "the URL must start with http:// or https://"),
        (["--events"], "--events needs a URL"),
        (["--events", "notaurl"], "the URL must start with http:// or https://"),
        (["--events", URL, "--record", "x"], "--events takes no --record, -d or --dialect"),
        (["--events", URL, "-d", "{}"], "--events takes no --record, -d or --dialect"),
        (["--events", URL, "--dialect", "gemini"], "--events takes no --record, -d or --dialect"),
        (["--dialect", "gemini", "--reconnect"], "--reconnect is for turns; gemini cannot resume"),
    ],
)
def test_options_that_cannot_be_used(given, run_main, options, line):
    run = run_main("tui", *options)
    assert (run.code, given) == (2, [])
    assert line in run.said[-1]


@pytest.mark.parametrize("redirected", ["stdin", "stdout", "stderr"])
def test_without_a_terminal_it_names_turn(monkeypatch, given, run_main, redirected):
    monkeypatch.setattr(
        ratatoskr.cli.commands.tui,
        "is_terminal",
        lambda stream: stream is not getattr(sys, redirected),
    )
    run = run_main("tui")
    need = "the app needs a terminal as stdin, stdout and stderr; `ratatoskr turn` does without"
    assert (run.code, run.said, given) == (2, [f"ratatoskr: {need}"], [])
