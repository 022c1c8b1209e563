"""Secrets of a request are not in any error or its causes, local variable of a frame, or log
line.
"""

import base64
import contextlib
import itertools
import logging
import socket
import traceback
from pathlib import Path
from typing import Any

import pytest
from support.adapters import ADAPTERS, every_adapter
from support.frames import chunk, text
from support.modes import play
from support.raw_server import CHUNKED, LAST_CHUNK, serving

import ratatoskr_transports
from ratatoskr_proto import RatatoskrError, encode_event
from ratatoskr_transports import error_label

every_httpx = pytest.mark.parametrize("adapter", [a for a in ADAPTERS if a.is_httpx], ids=str)
OUR_FILES = str(Path(ratatoskr_transports.__file__).parent)
SECRET = "hunter2"
USERINFO = f"me:{SECRET}-of-userinfo"
QUERY = f"key={SECRET}-of-query"
HEADERS = {"Authorization-Two": f"Bearer {SECRET}-of-header"}
BODY = {"message": f"{SECRET}-of-body"}
FORMS = [SECRET, base64.b64encode(USERINFO.encode()).decode()]
FIRST = text(1, "a", turn=7)
BAD = encode_event("no JSON", id="7:2")


def with_secrets(url):
    """The URL of a server, with the secrets that a URL can hold."""
    return url.replace("://", f"://{USERINFO}@") + f"?{QUERY}"


def everything_caused_by(error):
    """The error, its causes and contexts and those in groups."""
    todo, found = [error], []
    while todo:
        each = todo.pop()
        if each is not None and all(each is not other for other in found):
            found.append(each)
            todo += [each.__cause__, each.__context__, *getattr(each, "exceptions", ())]
    return found


def texts_of(error):
    """All that a report of the error may show."""
    for each in everything_caused_by(error):
        yield from (str(each), repr(each), repr(each.args), repr(getattr(each, "__notes__", "")))
        for frame, _ in traceback.walk_tb(each.__traceback__):
            if frame.f_code.co_filename.startswith(OUR_FILES):
                for name, value in frame.f_locals.items():
                    yield f"{frame.f_code.co_qualname}: {name} = {value!r}"


def assert_no_secret(texts):
    assert [text for text in texts if any(form in text for form in FORMS)] == []


def our_records(caplog):
    return [each for each in caplog.records if each.name.startswith("ratatoskr_transports")]


REFUSED: dict[str, dict[str, Any]] = {
    "header-with-crlf": {"headers": {"X-Key": f"{SECRET}\r\nX: y"}},
    "header-with-lf": {"headers": [("X-Key", f"{SECRET}\n")]},
    "header-with-nul": {"headers": {b"X-Key": f"\0{SECRET}".encode()}},
    "header-with-surrogate": {"headers": {"X-Key": f"\ud800{SECRET}"}},
    "header-name": {"headers": {f"X {SECRET}": "y", **HEADERS}},
    "header-value-type": {"headers": {**HEADERS, "X-Key": [SECRET]}},
    "header-shape": {"headers": [(f"X-{SECRET}", "y", "z")]},
    "headers-are-text": {"headers": f"X-Key: {SECRET}"},
    "reserved-header": {"headers": {**HEADERS, "Host": SECRET}},
    "json-that-is-none": {"json": {**BODY, "more": object()}},
    "json-with-nan": {"json": {**BODY, "more": float("nan")}},
    "json-with-surrogate": {"json": {**BODY, "more": "\ud800"}},
    "json-and-content": {"json": BODY, "content": SECRET},
    "content-type": {"content": [SECRET]},
    "method": {"method": f"GET {SECRET}"},
    "event-timeout": {"event_timeout": -1, "json": BODY},
    "unknown-option": {"no_such_option": SECRET, "json": BODY},
    "space-in-url": {"url": f"http://{USERINFO}@ho st/?{QUERY}"},
    "control-in-url": {"url": f"http://{USERINFO}@host\n/?{QUERY}"},
    "no-host-in-url": {"url": f"http://{USERINFO}@/?{QUERY}"},
    "scheme-of-url": {"url": f"ftp://{USERINFO}@host/?{QUERY}"},
    "port-of-url": {"url": f"http://{USERINFO}@host:{SECRET}/?{QUERY}"},
    "large-port-of-url": {"url": f"http://{USERINFO}@host:99999999/?{QUERY}"},
    "bracket-in-url": {"url": f"http://{USERINFO}@[host/?{QUERY}"},
    "host-of-url": {"url": f"http://{USERINFO}@[{SECRET}]/?{QUERY}"},
    "url-is-bytes": {"url": f"http://{USERINFO}@host/?{QUERY}".encode()},
}


@every_adapter
def test_refused_argument_is_not_repeated(adapter, caplog):
    async def scenario(open_stream):
        for refused, function in itertools.product(REFUSED.values(), functions):
            options = {"url": with_secrets("http://127.0.0.1:9/"), "headers": HEADERS, **refused}
            with pytest.raises((TypeError, ValueError)) as caught:
                open_stream(function, options.pop("url"), **options)
            assert_no_secret(texts_of(caught.value))

    functions = ("stream_turn", "stream_events")

    play(adapter, scenario)
    assert our_records(caplog) == []


@every_adapter
def test_refused_header_is_named(adapter):
    async def scenario(open_stream):
        with pytest.raises(ValueError, match=r"x-key must not contain CR, LF, NUL"):
            open_stream("stream_turn", "http://host/", headers={"X-Key": f"{SECRET}\r\n"})
        with pytest.raises(ValueError, match=r"host cannot be given"):
            open_stream("stream_turn", "http://host/", headers={"Host": SECRET})
        with pytest.raises(ValueError, match=r"the value of last-event-id|SSE id"):
            open_stream("reconnect_turn", "http://host/", "7:1\r\n")

    play(adapter, scenario)


def function_of(adapter):
    module = adapter.module
    return module.stream_turn_sync if adapter.is_sync else module.stream_turn


@every_httpx
@pytest.mark.parametrize("bad", ["\r\n", "\n", "\0"], ids=repr)
def test_defaults_of_a_client_are_checked_and_not_repeated(adapter, bad):
    kind = adapter.library.Client if adapter.is_sync else adapter.library.AsyncClient
    client = kind(headers={"X-Key": f"{SECRET}{bad}"}, verify=False)
    with pytest.raises(ValueError, match="x-key must not contain") as caught:
        function_of(adapter)(client, "http://host/")
    assert_no_secret(texts_of(caught.value))
    client = kind(verify=False)
    client.cookies.set("key", f"{SECRET}{bad}x")
    with pytest.raises(ValueError, match="cookie must not contain") as caught:
        function_of(adapter)(client, "http://host/")
    assert_no_secret(texts_of(caught.value))


@every_httpx
def test_client_of_the_wrong_kind_is_not_repeated(adapter):
    kind = adapter.library.AsyncClient if adapter.is_sync else adapter.library.Client
    client = kind(headers=HEADERS, auth=("me", SECRET), verify=False)
    with pytest.raises(TypeError, match=r"cannot use an? (Async)?Client") as caught:
        function_of(adapter)(client, with_secrets("http://host/"), headers=HEADERS, json=BODY)
    assert_no_secret(texts_of(caught.value))


def no_stream(peer):
    peer.read_request()
    peer.send(b"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno")


def redirect(peer):
    peer.read_request()
    location = f"http://{USERINFO}@else/where?{QUERY}#{SECRET}".encode()
    peer.send(b"HTTP/1.1 302 No\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n")


def no_answer(peer):
    peer.read_request()


def nonsense(peer):
    peer.read_request()
    peer.send(b"220 mail.example.com ready\r\n\r\n")


def cut(peer):
    peer.read_request()
    peer.send(CHUNKED, chunk(FIRST))


def bad_event(peer):
    peer.read_request()
    peer.send(CHUNKED, chunk(FIRST + BAD), LAST_CHUNK)


def silent(peer):
    peer.read_request()
    peer.wait_for_close()


def open_with_secrets(open_stream, url, **options):
    return open_stream("stream_turn", with_secrets(url), headers=HEADERS, json=BODY, **options)


async def failing(open_stream, url, errors, **options):
    turn = open_with_secrets(open_stream, url, **options)
    try:
        async with turn:
            async for _ in turn:
                pass
    except RatatoskrError as error:
        errors.append(error)
    with contextlib.suppress(RatatoskrError):
        await anext(turn)  # is no further error to be logged


@every_adapter
@pytest.mark.parametrize(
    "fault",
    [no_stream, redirect, no_answer, nonsense, cut, bad_event, silent],
    ids=lambda fault: fault.__name__,
)
def test_error_of_a_connection_holds_no_secret_and_is_logged_once(adapter, fault, caplog):
    errors = []
    with serving(fault) as server:
        play(adapter, failing, server.url, errors, read_timeout=0.1 if fault is silent else 10)
    assert_logged_once_without_secrets(errors, caplog)


@every_adapter
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_failure_to_connect_holds_no_secret_and_is_logged_once(adapter, scheme, caplog):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    errors = []
    play(adapter, failing, f"{scheme}://127.0.0.1:{port}/", errors)
    assert_logged_once_without_secrets(errors, caplog)


def assert_logged_once_without_secrets(errors, caplog):
    [error] = errors
    assert_no_secret(texts_of(error))
    [record] = our_records(caplog)
    assert (record.levelno, record.name) == (logging.WARNING, "ratatoskr_transports")
    assert record.getMessage() == error_label(error)
    assert (record.exc_info, record.stack_info) == (None, None)
    assert_no_secret([record.getMessage(), repr(record.args)])


@every_adapter
def test_bug_of_the_caller_comes_through_frames_that_hold_no_secret(adapter, caplog):
    async def scenario(open_stream, url):
        def loads(text):
            raise ZeroDivisionError

        turn = open_with_secrets(open_stream, url, loads=loads)
        with pytest.raises(ZeroDivisionError) as caught:
            async with turn:
                await anext(turn)
        assert_no_secret(texts_of(caught.value))
        assert_no_secret([repr(turn.stream), str(dict(turn.headers))])

    with serving(bad_event) as server:
        play(adapter, scenario, server.url)
    assert our_records(caplog) == []


@every_httpx
def test_bug_in_the_auth_of_a_client_comes_through_frames_that_hold_no_secret(adapter):
    library = adapter.library

    class Auth(library.Auth):  # type: ignore[name-defined]
        def auth_flow(self, request):
            raise ZeroDivisionError

    async def scenario(open_stream, url):
        turn = open_with_secrets(open_stream, url)
        open_stream.client.auth = Auth()
        with pytest.raises(ZeroDivisionError) as caught:
            async with turn:
                pass
        assert_no_secret(texts_of(caught.value))
        with pytest.raises(RatatoskrError, match="closed"):
            await anext(turn)

    with serving(bad_event) as server:
        play(adapter, scenario, server.url)


@every_adapter
@pytest.mark.parametrize(
    ("headers", "kind"),
    [({"X-Key": f"{SECRET}\r\n"}, ValueError), ({"Host": SECRET}, ValueError), (SECRET, TypeError)],
    ids=["value", "name", "type"],
)
def test_headers_that_a_function_returned_are_not_repeated(adapter, headers, kind):
    async def scenario(open_stream):
        turn = open_stream("stream_turn", with_secrets("http://host/"), headers=lambda: headers)
        with pytest.raises(kind) as caught:
            await turn.__aenter__()
        assert_no_secret(texts_of(caught.value))

    play(adapter, scenario)
