"""Bodies of requests, and the arguments that are refused; no error keeps their values."""

import json

import httpx
import pytest
from support.exchanging import sent_by

import ratatoskr_transports.anyio
import ratatoskr_transports.httpx
import ratatoskr_transports.trio
from ratatoskr_transports import SseExchange

SECRET = "s3cr3t-t0ken"


def test_body_goes_out_with_its_length_after_the_head():
    sent = sent_by("POST", "http://a/", body=b"Hello")
    assert b"\r\ncontent-length: 5\r\n" in sent.lower()
    assert sent.endswith(b"\r\n\r\nHello")


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_body_may_be_any_bytes_and_is_copied(kind):
    buffer = bytearray(b"Hello")
    exchange = SseExchange("POST", "http://a/", body=kind(buffer))
    buffer[:] = b"xxxxx"
    assert b"".join(iter(exchange.bytes_to_send, b"")).endswith(b"Hello")


def test_empty_body_has_a_length_where_the_method_means_one():
    for method in ("POST", "post", "Put", "PATCH"):
        assert b"content-length: 0" in sent_by(method, "http://a/").lower()
    assert b"content-length" not in sent_by("GET", "http://a/").lower()
    assert b"content-length" not in sent_by("DELETE", "http://a/").lower()


@pytest.mark.parametrize("body", [None, "text", 5, [1]])
def test_body_that_is_no_bytes_is_a_type_error(body):
    with pytest.raises(TypeError, match="body must be bytes"):
        SseExchange("POST", "http://a/", body=body)


# The functions of the adapters build the body from json or content.


def call_httpx(url="http://example.test/", **options):
    return ratatoskr_transports.httpx.stream_turn_sync(httpx.Client(), url, **options)


def call_anyio(url="http://example.test/", **options):
    return ratatoskr_transports.anyio.stream_turn(url, **options)


def call_trio(url="http://example.test/", **options):
    return ratatoskr_transports.trio.stream_events(url, **options)


every_function = pytest.mark.parametrize("call", [call_httpx, call_anyio, call_trio])


def httpx_request(**options):
    """The request that a client of httpx gets to send."""
    requests = []

    def answer(request):
        requests.append(request)
        return httpx.Response(204)

    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        stream = ratatoskr_transports.httpx.stream_turn_sync(client, "http://a/", **options)
        with pytest.raises(Exception, match="status 204"):
            stream.__enter__()
    return requests[0]


def test_json_goes_out_as_utf_8_with_its_content_type():
    request = httpx_request(json={"message": "Grüße"})
    assert request.content == '{"message": "Grüße"}'.encode()
    assert request.headers["content-type"] == "application/json"


def test_given_content_type_wins_over_that_of_json():
    request = httpx_request(json=[], headers={"Content-Type": "application/x+json"})
    assert (request.content, request.headers["content-type"]) == (b"[]", "application/x+json")


@pytest.mark.parametrize("value", [0, False, "", [], {}])
def test_json_that_is_false_is_sent_all_the_same(value):
    assert json.loads(httpx_request(json=value).content) == value


@pytest.mark.parametrize("content", ["Grüße", "Grüße".encode(), bytearray("Grüße".encode())])
def test_content_goes_out_as_it_is(content):
    request = httpx_request(content=content)
    assert request.content == "Grüße".encode()
    assert "content-type" not in request.headers


def recursive():
    value = []
    value.append(value)
    return value


def nested():
    value = []
    for _ in range(100_000):
        value = [value]
    return value


@every_function
@pytest.mark.parametrize(
    ("error", "options"),
    [
        (TypeError, {"json": {}, "content": b""}),
        (TypeError, {"json": {"a": {1, 2}}}),
        (ValueError, {"json": float("nan")}),
        (ValueError, {"json": recursive()}),
        (ValueError, {"json": nested()}),
        (ValueError, {"json": "\ud800"}),
        (ValueError, {"content": "\ud800"}),
        (TypeError, {"content": 5}),
        (TypeError, {"content": [b"a"]}),
        (ValueError, {"method": "G T"}),
        (ValueError, {"url": "http://a b/"}),
        (ValueError, {"headers": {"X-Key": "a\nb"}}),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else value.__name__,
)
def test_what_cannot_be_asked_for_is_refused_before_anything_is_sent(call, error, options):
    with pytest.raises(error) as caught:
        call(**options)
    assert type(caught.value) is error


# A refusal carries nothing of what was refused.


def values_of(frame):
    return [repr(value) for value in frame.f_locals.values()]


@pytest.mark.parametrize(
    "options",
    [
        {"url": f"http://me:{SECRET}@a b/"},
        {"url": f"http://me:{SECRET}@a:65536/"},
        {"url": f"http://me:{SECRET}@[x/"},
        {"url": f"http://me:{SECRET}\ud800@a/"},
        {"url": f"ftp://me:{SECRET}@a/"},
        {"url": f"http://a/{SECRET}\ud800"},
        {"headers": {"Authorization": f"Bearer {SECRET}\r\n"}},
        {"headers": {"Host": SECRET}},
        {"headers": [("Authorization", SECRET), ("X-Key", "\0")]},
        {"headers": {"Cookie": SECRET}, "method": "G T"},
    ],
    ids=str,
)
@pytest.mark.parametrize("call", [SseExchange, call_httpx, call_anyio, call_trio])
def test_refusal_tells_no_secret_in_text_chain_or_frames(call, options):
    if call is SseExchange:
        options = {"method": "GET", "url": "http://a/", **options}
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # that no message tells is the point
        call(**options)
    error = caught.value
    assert SECRET not in repr(error)
    assert error.__cause__ is None
    assert error.__context__ is None
    traceback = error.__traceback__.tb_next  # the first frame is this one
    if call is not SseExchange:
        traceback = traceback.tb_next  # and that of the call above
    assert traceback is not None
    while traceback is not None:
        assert SECRET not in str(values_of(traceback.tb_frame))
        traceback = traceback.tb_next


# What is resumed, and what is wrapped.


@pytest.mark.parametrize("last_sse_id", [None, 5, (42, 1), b"42:1"])
def test_turn_is_resumed_after_an_id_or_its_text_only(last_sse_id):
    with pytest.raises(TypeError, match="last_sse_id must be an SseId or its text"):
        ratatoskr_transports.anyio.reconnect_turn("http://a/", last_sse_id)


@pytest.mark.parametrize("last_sse_id", ["", "42", "42:", "42:1\r\nX: y", "a:b"])
def test_turn_is_resumed_after_a_good_id_only(last_sse_id):
    with pytest.raises(ValueError, match="SSE id"):
        ratatoskr_transports.trio.reconnect_turn("http://a/", last_sse_id)


def test_url_that_only_the_client_finds_bad_is_refused_all_the_same():
    with pytest.raises(ValueError, match="the client cannot make this request"):
        call_httpx("http://example.test/" + "a" * 70_000)
