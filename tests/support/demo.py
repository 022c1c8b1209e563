"""The demo server on loopback, in a thread of its own."""

import contextlib
import http.client
import json
from collections.abc import Iterator
from urllib.parse import urlsplit

from anyio.from_thread import start_blocking_portal

from ratatoskr._demo.faults import Faults
from ratatoskr.demo_server import DemoServer, Script

TIMEOUT = 30


@contextlib.contextmanager
def demo_serving(*faults, at=None, host="127.0.0.1", **script) -> Iterator[str]:
    """Run a server with these faults and this ``Script``; gives the URL of its turns."""
    server = DemoServer(Script(Faults(faults, at), **script))
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(server.listening(host)) as url,
    ):
        yield url


@contextlib.contextmanager
def connected(url) -> Iterator[http.client.HTTPConnection]:
    """A connection of a client that knows nothing of event streams."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT)
    try:
        yield connection
    finally:
        connection.close()


def ask(url, method, target="/turns", body=None, **headers):
    """The status, the media type and the body of an answer."""
    with connected(url) as connection:
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        return response.status, response.getheader("content-type"), response.read()


def error_of(answer):
    """The status and the text of an error, which is told in JSON."""
    status, media_type, body = answer
    assert media_type == "application/json"
    return status, json.loads(body)["error"]


def start_turn(url, target="/turns", message="Hi"):
    """The body of the stream of a new turn."""
    status, media_type, body = ask(url, "POST", target, json.dumps({"message": message}))
    assert (status, media_type) == (200, "text/event-stream")
    return body


def resume_turn(url, id, target="/turns"):
    """The body of the stream of a turn that is resumed behind an id."""
    status, media_type, body = ask(url, "GET", target, Last_Event_ID=id)
    assert (status, media_type) == (200, "text/event-stream")
    return body
