"""``ratatoskr tui --events``: the frames of any stream, without a conversation."""

from support.raw_server import serving
from support.terminal_app import drive, screen, until

from ratatoskr._connector import Connector
from ratatoskr.tui import EventsApp
from ratatoskr_proto import ReconnectPolicy

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def showing(url):
    return EventsApp(url, connector=Connector(trust_env=False), options={})


def listed(app):
    """The rows without times and sizes."""
    rows = [" ".join(row.split()) for row in screen(app)[1:-2]]
    return [row.split(" B ")[1].removeprefix("- ") for row in rows if " B " in row]


def test_frames_are_listed_and_the_stream_is_resumed_after_the_last_id(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def handler(peer):
        peer.read_request()
        if peer.header("last-event-id") is None:
            peer.send(HEAD, b"id: 7\nevent: tick\ndata: [bold]\x1b[m\n\n: alive\n\n")
        else:
            peer.send(HEAD, b"data: " + peer.header("last-event-id").encode() + b"\n\n")

    async def scenario(pilot):
        app = pilot.app
        await until(pilot, lambda: "[end of stream]" in listed(app))
        assert listed(app) == [r"7 tick [bold]\x1b[m", "comment alive", "[end of stream]"]
        assert screen(app)[0] == " 1 events · 1 comments · 0 skipped · last id 7"
        assert screen(app)[-2].startswith(" closed · 127.0.0.1:")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: listed(app).count("[end of stream]") == 2)
        assert listed(app)[3:] == ["another connection", "7 message 7", "[end of stream]"]
        await pilot.press("home", "pagedown", "right", "end", "ctrl+s")
        (file,) = tmp_path.iterdir()
        assert screen(app)[-2].startswith(" saved ")
        assert file.read_text().endswith("[end of stream]\n")

    with serving(handler) as server:
        drive(showing(server.url), scenario, size=(120, 24))


def test_escape_closes_the_stream():
    def handler(peer):
        peer.read_request()
        peer.send(HEAD, b"data: x\n\n")
        peer.wait_for_close()

    async def scenario(pilot):
        app = pilot.app
        await until(pilot, lambda: listed(app) == ["message x"])
        assert " streaming · 127.0.0.1:" in screen(app)[-2]
        await pilot.press("f1")
        await until(pilot, lambda: "  Esc        closes the stream" in screen(app))
        await pilot.press("escape")
        await pilot.press("escape")
        await until(pilot, lambda: listed(app) == ["message x", "[cancelled]"])
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not app.is_running)

    with serving(handler) as server:
        drive(showing(server.url), scenario)


def begins_with(pilot, line):
    return until(pilot, lambda: any(row.startswith(line) for row in listed(pilot.app)))


def test_a_url_of_another_kind_is_a_row():
    async def scenario(pilot):
        await begins_with(pilot, "[not_sent] the URL must start with http:// or https://")

    drive(showing("ftp://127.0.0.1/"), scenario, size=(120, 24))


def test_a_stream_that_cannot_be_had_is_a_row(nobody_listens):
    async def scenario(pilot):
        await begins_with(pilot, "[connect_failed] status=None reason='refused")

    drive(showing(nobody_listens), scenario, size=(120, 24))


def test_with_a_policy_it_reconnects_by_itself():
    def handler(peer):
        peer.read_request()
        peer.send(HEAD, b"data: x\n\n")

    async def scenario(pilot):
        await until(pilot, lambda: listed(pilot.app).count("another connection") >= 2)

    with serving(handler) as server:
        app = EventsApp(
            server.url,
            connector=Connector(trust_env=False),
            options={},
            reconnect=ReconnectPolicy(floor=0.001, ceiling=0.01),
        )
        drive(app, scenario)
