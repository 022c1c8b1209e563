"""The demo server at the paths of OpenAI, Anthropic and Gemini, as any client of HTTP sees it."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.demo import answering, ask, connected

from ratatoskr import demo_server
from ratatoskr._requests import Said, request_body
from ratatoskr.demo_server import Script
from ratatoskr_proto import EventStreamDecoder

PATHS = {dialect: path for dialect, path in demo_server.PATHS.items() if dialect != "turn"}
BODIES = {dialect: request_body(dialect, [Said("user", "Hi")]) for dialect in PATHS}
CONVERSATION = {
    "openai-chat": "messages",
    "openai-responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
}
NOT_GEMINI = [dialect for dialect in PATHS if dialect != "gemini"]
each_dialect = pytest.mark.parametrize("dialect", PATHS)


@pytest.fixture(scope="module")
def url():
    with answering(Script(events=20)) as base_url:
        yield base_url


def post(url, dialect, query="", body=None, **headers):
    text = json.dumps(BODIES[dialect] if body is None else body)
    return ask(url, "POST", PATHS[dialect] + query, text, **headers)


def answer(url, dialect, query="", body=None, **headers):
    """The frames of an answer."""
    status, media_type, body = post(url, dialect, query, body, **headers)
    assert (status, media_type) == (200, "text/event-stream")
    decoder = EventStreamDecoder()
    frames = decoder.receive_data(body)
    assert not decoder.pending
    return frames


def refusal(response):
    """The status and the message of an error."""
    status, media_type, body = response
    assert media_type == "application/json"
    return status, json.loads(body)["error"]["message"]


def text_of(frames):
    """The text of an answer, whatever its dialect."""
    text = ""
    for frame in frames:
        match frame.data != "[DONE]" and json.loads(frame.data):
            case {"choices": [{"delta": {"content": str(piece)}}]}:
                text += piece
            case {"type": "response.output_text.delta", "delta": piece}:
                text += piece
            case {"delta": {"type": "text_delta", "text": piece}}:
                text += piece
            case {"candidates": [{"content": {"parts": [{"thought": True}]}}]}:
                pass
            case {"candidates": [{"content": {"parts": [{"text": piece}]}}]}:
                text += piece
    return text


# Answers


@each_dialect
def test_an_answer_has_as_many_frames_as_asked_for(url, dialect):
    assert len(answer(url, dialect)) == 20
    assert len(answer(url, dialect, "?events=33")) == 33
    assert len(answer(url, dialect, "?events=22&reasoning=It+thinks.")) == 22
    assert len(answer(url, dialect, "?events=13&text=All+is+well.")) == 13


@each_dialect
def test_an_answer_has_the_frames_that_its_dialect_needs_at_least(url, dialect):
    fewest = {"openai-chat": 4, "openai-responses": 8, "anthropic": 6, "gemini": 2}[dialect]
    for query in ("?events=1", "?events=1&text=All+is+well."):
        frames = answer(url, dialect, query)
        assert len(frames) == fewest
        assert text_of(frames) == ("All is well." if "text" in query else "You said: Hi\n\n")
    assert len(answer(url, dialect, "?text=")) == fewest - 1


@each_dialect
def test_an_answer_is_made_as_it_is_sent(url, dialect):
    with connected(url) as connection:
        path = f"{PATHS[dialect]}?events=1000000000"
        connection.request("POST", path, json.dumps(BODIES[dialect]))
        assert len(connection.getresponse().read(10_000)) == 10_000


@each_dialect
@pytest.mark.parametrize("text", ["x", "All is well.", "世界樹 🐿️\r\n\n\x00\x85\u2028", "x" * 100])
def test_a_text_that_was_chosen_comes_whole(dialect, text):
    with answering(Script(text=text, reasoning="It thinks. 🐿️")) as url:
        assert text_of(answer(url, dialect)) == text
        assert text_of(answer(url, dialect, "?events=12")) == text
        assert text_of(answer(url, dialect, "?events=100000")) == text


def test_a_turn_can_have_a_chosen_text_too():
    with answering(Script(text="All is well.", reasoning="It thinks.")) as url:
        status, _, body = ask(url, "POST")
    assert status == 200
    bodies = [json.loads(frame.data) for frame in EventStreamDecoder().receive_data(body)]
    assert "".join(body["text"] for body in bodies if body["type"] == "text") == "All is well."
    assert "".join(body["text"] for body in bodies if body["type"] == "reasoning") == "It thinks."
    assert bodies[-1] == {"type": "done", "frames": 7}


def test_a_long_turn_with_a_chosen_text_is_whole():
    with answering(Script(text="x" * 1100, events=1101)) as url:
        body = ask(url, "POST")[2]
    frames = EventStreamDecoder().receive_data(body)
    assert len(frames) == 1101
    assert all(frame.data for frame in frames)


@each_dialect
@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([{"role": "user", "content": "Hi"}], "Hi"),
        ([{"role": "user", "content": [{"type": "text", "text": "H"}, {"text": "i"}]}], "Hi"),
        ([{"role": "user", "parts": [{"text": "Hi"}]}], "Hi"),
        ([{"role": "user", "content": "No"}, {"role": "user", "content": "Hi"}], "Hi"),
        ("Hi", "Hi"),
        ([{"role": "assistant", "content": None}], None),
        ([{"role": "user", "content": [{"image_url": {}}]}], None),
        ([], None),
    ],
)
def test_what_was_said_last_is_answered(url, dialect, shape, message):
    body = BODIES[dialect] | {CONVERSATION[dialect]: shape}
    said = f"You said: {message}\n\n" if message else "Listen.\n\n"
    assert text_of(answer(url, dialect, "?events=1", body)) == said


@each_dialect
def test_the_answer_names_the_model_that_was_asked_for(url, dialect):
    body = BODIES[dialect] | {"model": "mimir"}
    names = [frame.data.count('"mimir"') for frame in answer(url, dialect, "?events=1", body)]
    assert sum(names) > 0


# Requests that are refused


@pytest.mark.parametrize("dialect", NOT_GEMINI)
def test_a_request_for_a_whole_response_is_400(url, dialect):
    message = 'this server only streams: send "stream": true'
    for stream in ({"stream": False}, {"stream": None}, {}):
        body = {key: value for key, value in BODIES[dialect].items() if key != "stream"} | stream
        assert refusal(post(url, dialect, body=body)) == (400, message)
    # The header that is made for it will do, but does not overrule the body.
    body.clear()
    assert answer(url, dialect, body=body, Accept="text/event-stream")
    body["stream"] = False
    assert post(url, dialect, body=body, Accept="text/event-stream")[0] == 400


def test_a_request_for_a_whole_response_of_gemini_is_400(url):
    path = PATHS["gemini"].replace("streamGenerateContent", "generateContent")
    message = "this server only streams: use streamGenerateContent"
    assert refusal(ask(url, "POST", path, "{}")) == (400, message)


@each_dialect
@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b"null", b"\xff", b"[" * 100_000, "a lone surrogate", "a model that is a number"],
    ids=lambda body: repr(body)[:16],
)
def test_an_invalid_body_is_400_with_a_valid_one(url, dialect, body):
    if body == "a lone surrogate":
        body = json.dumps(BODIES[dialect] | {CONVERSATION[dialect]: "\ud800"})
    elif body == "a model that is a number":
        body = json.dumps(BODIES[dialect] | {"model": 7})
        if dialect == "gemini":  # which has it in the path
            assert ask(url, "POST", PATHS[dialect], body)[0] == 200
            return
    status, message = refusal(ask(url, "POST", PATHS[dialect], body))
    assert status == 400
    example = json.loads(message.removeprefix("the body must be a JSON object such as "))
    assert answer(url, dialect, body=example)


KEYS = ["messages", "input", "contents", "content", "parts", "text", "role", "model", "stream"]
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=8,
)


@settings(max_examples=20)
@given(any_json, st.sampled_from(["text/event-stream", "*/*"]))
def test_any_json_is_answered_or_refused(url, body, accept):
    with connected(url) as connection:
        for path in PATHS.values():
            connection.request("POST", f"{path}?events=1", json.dumps(body), {"Accept": accept})
            response = connection.getresponse()
            text = response.read()
            assert response.status in (200, 400)
            assert response.status == 200 or json.loads(text)["error"]["message"]


@each_dialect
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_the_method_is_post(url, dialect, method):
    assert refusal(ask(url, method, PATHS[dialect])) == (405, "the method here is POST")


@pytest.mark.parametrize("dialect", NOT_GEMINI)
def test_with_a_model_others_are_refused(dialect):
    with answering(Script(model="mimir", events=1)) as url:
        message = "the model must be 'mimir'"
        assert refusal(post(url, dialect)) == (400, message)
        body = BODIES[dialect] | {"model": "gpt"}
        assert refusal(post(url, dialect, body=body)) == (404, message)
        assert answer(url, dialect, body=BODIES[dialect] | {"model": "mimir"})


def test_with_a_model_gemini_has_it_in_the_path():
    with answering(Script(model="other", events=1)) as url:
        assert refusal(post(url, "gemini"))[0] == 404
        path = PATHS["gemini"].replace("mimir", "other")
        assert ask(url, "POST", path, "{}")[0] == 200


# Faults


@each_dialect
def test_other_parameters_of_a_query_are_left_alone(url, dialect):
    assert len(answer(url, dialect, "?alt=sse&key=secret&beta=true&events=22")) == 22


@each_dialect
def test_a_fault_can_be_asked_for_by_query_and_by_header(url, dialect):
    whole = post(url, dialect)[2]
    for query in ("?alt=sse&ends-early&at=5", "?fault=ends-early,at=5", "?no-done=&at=5&id=x"):
        early = post(url, dialect, query)[2]
        assert (early.count(b"\n\n"), len(early) < len(whole)) == (4, True)
    assert post(url, dialect, X_Fault="ends-early,at=5")[2].count(b"\n\n") == 4


LACKING = {
    "openai-chat": ["flip", "bad-id"],
    "openai-responses": ["flip", "bad-id", "no-end-mark"],
    "anthropic": ["flip", "bad-id"],
    "gemini": ["flip", "bad-id", "no-end-mark"],
}


@each_dialect
def test_a_fault_that_a_dialect_does_not_have_is_400_with_the_list(url, dialect):
    for fault in LACKING[dialect]:
        start = f"{dialect} has no fault '{fault}'; the faults are ends-early, cut-at-frame, "
        for response in post(url, dialect, X_Fault=fault), post(url, dialect, f"?{fault}"):
            status, message = refusal(response)
            assert (status, message.startswith(start)) == (400, True)
            assert not any(name in message.partition(";")[2] for name in LACKING[dialect])


@each_dialect
@pytest.mark.parametrize("fault", ["nope", "", "nope,at=3"])
def test_an_unknown_fault_is_400(url, dialect, fault):
    for response in post(url, dialect, X_Fault=fault), post(url, dialect, f"?fault={fault}"):
        status, message = refusal(response)
        start = f"there is no fault '{fault.partition(',')[0]}'; the faults are "
        assert (status, message.startswith(start)) == (400, True)


@each_dialect
@pytest.mark.parametrize(("status", "wait"), [(429, "1"), (503, "1"), (500, None), (404, None)])
def test_a_status_has_the_error_object_of_the_dialect(url, dialect, status, wait):
    with connected(url) as connection:
        headers = {"X-Fault": f"status={status}"}
        connection.request("POST", PATHS[dialect], json.dumps(BODIES[dialect]), headers)
        response = connection.getresponse()
        assert (response.status, response.getheader("retry-after")) == (status, wait)
        error = json.load(response)["error"]
    assert error["message"] == f"status {status} was asked for"
    if dialect == "gemini":
        assert error["code"] == status
    else:
        assert error["type"].endswith("_error")


@pytest.mark.parametrize(
    ("dialect", "last"),
    [("openai-chat", '"finish_reason": "stop"'), ("anthropic", '"type": "message_delta"')],
)
def test_without_its_end_mark_an_answer_is_whole(url, dialect, last):
    frames = answer(url, dialect, X_Fault="no-end-mark")
    assert len(frames) == 19
    assert last in frames[-1].data
    assert text_of(frames) == text_of(answer(url, dialect))


@each_dialect
def test_an_error_in_the_stream_ends_it(url, dialect):
    frames = answer(url, dialect, X_Fault="error,at=10")
    assert len(frames) == 10
    assert "out of mead" in frames[-1].data


@each_dialect
def test_bad_json_is_in_a_frame_of_the_usual_kind(url, dialect):
    frames, good = answer(url, dialect, X_Fault="bad-json,at=10"), answer(url, dialect)
    assert (len(frames), frames[9].data, frames[9].event) == (20, "not-json", good[9].event)


@each_dialect
def test_empty_frames_stand_between_the_others(url, dialect):
    frames = answer(url, dialect, X_Fault="empty,at=5")
    assert [(frame.id, frame.data) for frame in frames if not frame.data] == [("5", ""), ("10", "")]
    assert text_of(frame for frame in frames if frame.data) == text_of(answer(url, dialect))


@each_dialect
def test_a_keep_alive_is_that_of_the_dialect(url, dialect):
    body, whole = post(url, dialect, X_Fault="keepalive")[2], post(url, dialect)[2]
    ping = b'event: ping\ndata: {"type": "ping"}\n\n'
    alive = ping if dialect == "anthropic" else b": keep-alive\n\n"
    assert body.count(alive) == 1
    assert len(body) == len(whole) + len(alive)


@each_dialect
def test_a_huge_event_is_of_the_usual_kind(url, dialect, monkeypatch):
    monkeypatch.setattr("ratatoskr._demo.faults.HUGE_BYTES", 1000)
    frames = answer(url, dialect, X_Fault="huge,at=10")
    assert len(frames) == 20
    assert text_of(frames[9:10]) == "x" * 1000
