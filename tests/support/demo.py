"""The demo server on loopback, in a thread of its own, and plain requests to it."""

import contextlib
import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from anyio.from_thread import start_blocking_portal

from ratatoskr._demo.answers import Prompt, TurnAnswer
from ratatoskr.demo_server import DemoServer, Faults, Script

TIMEOUT = 30


@contextlib.contextmanager
def answering(script: Script, host: str = "127.0.0.1") -> Iterator[str]:
    """Run a server with this script; gives its base URL."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(DemoServer(script).listening(host)) as base_url,
    ):
        yield base_url


@contextlib.contextmanager
def demo_serving(*faults: str, at: int | None = None, **script: Any) -> Iterator[str]:
    """Run a server with these faults and this ``Script``; gives the URL of its turns."""
    with answering(Script(Faults(faults, at), **script)) as base_url:
        yield f"{base_url}/turns"


def demo_turn(message="Hi", events=1100):
    """The body of turn 93, as a new server sends it."""
    frames = TurnAnswer(93, Prompt(message, events=events)).numbered_frames()
    return b"".join(frame.encode() for _, frame in frames)


@contextlib.contextmanager
def connected(url: str) -> Iterator[http.client.HTTPConnection]:
    """A connection of a client that knows nothing of event streams."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT)
    try:
        yield connection
    finally:
        connection.close()


def ask(url, method, target="/turns", body=None, **headers):
    """The status, the media type and the body of a response."""
    with connected(url) as connection:
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        return response.status, response.getheader("content-type"), response.read()


def error_of(response):
    """The status and the text of an error, which is a JSON object."""
    status, media_type, body = response
    assert media_type == "application/json"
    return status, json.loads(body)["error"]


def start_turn(url, target="/turns", message="Hi"):
    """The body of the stream of a new turn."""
    status, media_type, body = ask(url, "POST", target, json.dumps({"message": message}))
    assert (status, media_type) == (200, "text/event-stream")
    return body


def resume_turn(url, id, target="/turns"):
    """The body of the stream of a turn that is resumed after an id."""
    status, media_type, body = ask(url, "GET", target, Last_Event_ID=id)
    assert (status, media_type) == (200, "text/event-stream")
    return body
