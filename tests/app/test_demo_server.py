"""The demo server as any client of HTTP sees it."""

import json
from urllib.parse import urlsplit

import anyio
import pytest
from support.demo import (
    answering,
    ask,
    connected,
    demo_serving,
    error_of,
    resume_turn,
    start_turn,
)

from ratatoskr import demo_server
from ratatoskr.demo_server import PATHS, DemoServer, Script
from ratatoskr_proto import EventStreamDecoder


@pytest.fixture(scope="module")
def url():
    with demo_serving() as url:
        yield url


@pytest.fixture
def fresh_url():
    """A server that has served nothing yet."""
    with demo_serving(events=20) as url:
        yield url


def frames(body):
    return EventStreamDecoder().receive_data(body)


def ids(body):
    return [frame.id for frame in frames(body)]


# Turns


def test_a_turn_is_frames_in_order_up_to_done(fresh_url):
    body = start_turn(fresh_url)
    assert ids(body) == [f"93:{seq}" for seq in range(1, 21)]
    assert json.loads(frames(body)[-1].data)["type"] == "done"


def test_a_turn_is_long_and_is_resumed_around_the_frame_that_once_crashed(url):
    body = start_turn(url)
    whole = frames(body)
    assert len(whole) == 1100
    assert body.count(b": keep-alive\n\n") == 22
    assert [frame.id[-5:] for frame in whole if frame.data == ""] == [":1078"]
    turn_number = whole[0].id.partition(":")[0]
    for seq in (1076, 1077, 1078, 1079, 1099):
        assert frames(resume_turn(url, f"{turn_number}:{seq}")) == whole[seq:]


@pytest.mark.parametrize("events", [1, 2, 10, 50, 1078])
def test_a_turn_of_any_length_ends_in_done(url, events):
    last = frames(start_turn(url, f"/turns?events={events}"))[-1]
    assert last.id.endswith(f":{events}")
    assert json.loads(last.data) == {"type": "done", "frames": events}


def test_each_turn_has_a_number_of_its_own(fresh_url):
    assert [ids(start_turn(fresh_url))[0] for _ in range(3)] == ["93:1", "94:1", "95:1"]


@pytest.mark.parametrize("message", ["Hi", "世界樹", "a\nb", "\0\x1b", "x" * 100_000])
def test_the_message_is_answered(url, message):
    answer = json.loads(frames(start_turn(url, "/turns?events=2", message))[0].data)
    assert answer["text"] == f"You said: {message}\n\n"


def test_a_message_is_not_required(url):
    status, media_type, _ = ask(url, "POST", "/turns?events=2")
    assert (status, media_type) == (200, "text/event-stream")


# Resumption


@pytest.mark.parametrize("seq", [1, 2, 10, 19])
def test_a_turn_is_resumed_after_a_frame(fresh_url, seq):
    whole = start_turn(fresh_url)
    rest = resume_turn(fresh_url, f"93:{seq}")
    assert whole.endswith(rest)
    assert ids(rest)[0] == f"93:{seq + 1}"


def test_a_finished_turn_can_be_resumed_any_number_of_times(fresh_url):
    whole = start_turn(fresh_url)
    start_turn(fresh_url)
    assert {resume_turn(fresh_url, "93:0") for _ in range(3)} == {whole}


def test_a_turn_that_is_resumed_after_its_end_ends_again(fresh_url):
    start_turn(fresh_url)
    assert ids(resume_turn(fresh_url, "93:20")) == ["93:20"]


def test_turns_are_forgotten_after_a_thousand_more(fresh_url, monkeypatch):
    assert demo_server._KEPT_TURNS == 1000
    monkeypatch.setattr(demo_server, "_KEPT_TURNS", 10)
    with connected(fresh_url) as connection:
        for _ in range(12):
            connection.request("POST", "/turns?events=1")
            connection.getresponse().read()
        status = {}
        for turn in (93, 94, 95):
            connection.request("GET", "/turns?events=1", headers={"Last-Event-ID": f"{turn}:0"})
            response = connection.getresponse()
            response.read()
            status[turn] = response.status
    assert status == {93: 404, 94: 404, 95: 200}


# What it refuses


@pytest.mark.parametrize("id", ["94:1", "0:0", "9999999999999999999:1"])
def test_a_turn_that_is_not_known_is_404(fresh_url, id):
    start_turn(fresh_url)
    status, error = error_of(ask(fresh_url, "GET", Last_Event_ID=id))
    assert (status, error) == (404, "there is no such turn, or not any more")


@pytest.mark.parametrize("seq", [21, 9999999999999999999])
def test_a_frame_that_the_turn_does_not_have_is_404(fresh_url, seq):
    start_turn(fresh_url)
    status, error = error_of(ask(fresh_url, "GET", Last_Event_ID=f"93:{seq}"))
    assert (status, error) == (404, "the turn has frames up to 93:20 only")


@pytest.mark.parametrize("id", ["93", "93:", ":1", "93:1:2", "-93:1", "93:1x", "x", "9" * 40])
def test_a_malformed_id_is_400_with_a_wellformed_one(url, id):
    status, error = error_of(ask(url, "GET", Last_Event_ID=id))
    assert (status, "such as 93:1077" in error) == (400, True)


@pytest.mark.parametrize("headers", [{}, {"Last_Event_ID": ""}])
def test_get_without_an_id_starts_a_turn(url, headers):
    status, _, body = ask(url, "GET", "/turns?events=2", **headers)
    assert (status, b'"done"' in body) == (200, True)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"Hi",
        b"[]",
        b'"Hi"',
        b"null",
        b"\xff",
        b"[" * 100_000,
        b'{"message": 7}',
        b'{"message": null}',
        b'{"message": "\\ud800"}',
    ],
    ids=lambda body: repr(body[:16]),
)
def test_an_invalid_body_is_400_with_a_valid_one(url, body):
    status, error = error_of(ask(url, "POST", body=body))
    assert (status, '{"message": "Hi"}' in error) == (400, True)


@pytest.mark.parametrize("target", ["/", "/turn", "/turns/", "/turns/93", "*", "//[", "//x]:y/"])
def test_another_path_is_404_with_the_paths_that_there_are(url, target):
    status, message = error_of(ask(url, "GET", target))
    assert status == 404
    assert all(path in message for path in PATHS.values())


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "BREW"])
def test_another_method_is_405(url, method):
    assert error_of(ask(url, method))[0] == 405
    with connected(url) as connection:
        connection.request(method, "/turns")
        assert connection.getresponse().getheader("allow") == "GET, POST"


@pytest.mark.parametrize("target", ["/turns", "/", "/turns?html", "/turns?status=503"])
def test_head_is_answered_without_a_body(url, target):
    status, _, body = ask(url, "HEAD", target)
    assert (status in (404, 405), body) == (True, b"")


@pytest.mark.parametrize(
    "query",
    [
        "nope",
        "events=0",
        "events=-1",
        "events=x",
        "events=",
        "events=1.5",
        "events=1000000001",
        "events=0000000001" + "9" * 10,
        "events=" + "1" * 5000,
        "at=0",
        "at=x",
        "pace=x",
        "pace=-1",
        "pace=3601",
        "pace=nan",
        "pace=inf",
        "pace=",
        "status",
        "status=99",
        "status=600",
        "status=x",
        "drop-every=0",
        "drop-every",
        "bad-json=1",
        "fault=nope",
        "%00%1b",
        "a=b=c",
    ],
)
def test_an_invalid_query_is_400(url, query):
    status, error = error_of(ask(url, "POST", f"/turns?{query}"))
    assert status == 400
    assert error.isprintable()


@pytest.mark.parametrize("query", ["pace=x", "pace=nan"])
def test_an_invalid_pace_is_400_with_what_would_be_valid(url, query):
    error = error_of(ask(url, "POST", f"/turns?{query}"))[1]
    assert error == "pace must be a number of seconds from 0 to 3600"


@pytest.mark.parametrize("size", [1024 * 1024 + 1, 20 * 1024 * 1024])
def test_a_huge_body_is_413_and_the_connection_goes_on(url, size):
    with connected(url) as connection:
        for _ in range(2):
            connection.request("POST", "/turns", b"x" * size)
            response = connection.getresponse()
            assert (response.status, json.load(response)) == (
                413,
                {"error": "a request can have 1048576 bytes at most"},
            )


# Where it listens


def test_it_listens_on_loopback_at_a_free_port(url):
    assert urlsplit(url).hostname == "127.0.0.1"
    assert urlsplit(url).port > 0


def test_it_gives_the_address_without_a_path():
    with answering(Script()) as base_url:
        assert base_url == f"http://127.0.0.1:{urlsplit(base_url).port}"


def test_it_listens_on_ipv6():
    try:
        with answering(Script(events=1), host="::1") as base_url:
            assert base_url.startswith("http://[::1]:")
            start_turn(base_url)
    except OSError:
        pytest.skip("needs IPv6 on loopback")


def test_a_port_that_is_taken_is_an_os_error(url):
    async def main():
        async with DemoServer().listening(port=urlsplit(url).port):
            pass

    with pytest.raises(OSError, match="in use"):
        anyio.run(main)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"events": 0}, "events must be a number from 1 to 1000000000"),
        ({"events": 10**9 + 1}, "events must be a number from 1 to 1000000000"),
        ({"pace": -1}, "pace must be a number of seconds from 0 to 3600"),
        ({"pace": float("nan")}, "pace must be a number of seconds from 0 to 3600"),
        ({"text": "\ud800"}, "text must not contain a lone surrogate"),
        ({"reasoning": "\ud800"}, "reasoning must not contain a lone surrogate"),
    ],
)
def test_a_script_refuses_what_the_server_cannot_do(values, message):
    with pytest.raises(ValueError, match=message):
        Script(**values)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_exception_in_the_block_comes_out_as_it_is(backend):
    async def main():
        async with DemoServer(Script(events=1)).listening():
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        anyio.run(main, backend=backend)
