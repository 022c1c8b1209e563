"""``ratatoskr decode``: what it prints, what it says about the end, how it exits."""

import json
from pathlib import Path

import pytest
from support.frames import done, text

from ratatoskr._shown import json_lines
from ratatoskr_proto import SseId, Unknown, encode_comment, encode_event

HI = text(1, "Hi")
DONE = done(2)
HI_LINE = {"type": "text", "sse_id": "42:1", "body": {"type": "text", "text": "Hi"}, "text": "Hi"}
DONE_LINE = {"type": "done", "sse_id": "42:2", "body": {"type": "done"}, "stop_reason": None}

# What commands a terminal, hides on it, or breaks a line there.
HOSTILE = "\0\a\b\x1b[31m\x1b]0;x\x07\x7f\x85\x9b31m\u2028\u202e\u2066"


def event(data, seq=2):
    return encode_event(data, id=f"42:{seq}")


def is_harmless(line):
    return line.isprintable()


# A turn


def test_an_event_is_a_line_with_its_type_id_whole_body_and_fields(decode):
    body = '{"type": "text", "text": "Hi", "more": [1, null]}'
    assert decode(event(body) + DONE).stdout.splitlines()[0].decode() == (
        f'{{"type": "text", "sse_id": "42:2", "body": {body}, "text": "Hi"}}'
    )


def test_events_come_out_in_order(decode):
    assert decode(HI + DONE).lines == [HI_LINE, DONE_LINE]


def test_an_event_of_an_unknown_type_is_printed(decode):
    assert decode(event('{"type": "tool"}')).lines == [
        {"type": "tool", "sse_id": "42:2", "body": {"type": "tool"}}
    ]


def test_an_error_event_is_printed(decode):
    assert decode(event('{"type": "error", "message": "no"}')).lines[0]["type"] == "error"


def test_a_frame_with_an_id_and_no_data_is_skipped(decode):
    assert decode(HI + event("") + DONE).lines == [HI_LINE, DONE_LINE]


def test_done_is_said_with_a_summary_and_exits_0(decode):
    run = decode(HI + DONE)
    assert run.said == ["[done]", f"2 events, {len(HI + DONE)} bytes read"]
    assert run.code == 0


def test_what_follows_the_terminal_event_is_not_looked_at(decode):
    run = decode(HI + DONE + event("not JSON"))
    assert (run.lines, run.said[0], run.code) == ([HI_LINE, DONE_LINE], "[done]", 0)


ENDINGS = {
    "no_terminal_event": (b"", "[connection_dropped] last_sse_id=42:1 reason='end of stream'", 21),
    "malformed_data": (event("oops"), "[malformed_sse_data] raw='oops'", 22),
    "malformed_id": (encode_event("{}", id="x"), "[malformed_sse_id] raw='x'", 22),
    "malformed_envelope": (event("[]"), "[malformed_envelope] raw='[]'", 22),
    "turn_id_flip": (encode_event("{}", id="43:2"), "[turn_id_flip] expected=42 got=43", 22),
    "too_large": (event("x" * 100), "[event_too_large] limit=60", 22),
    "server_error": (event('{"type":"error","message":"no"}'), "[error] message='no'", 23),
}


@pytest.mark.parametrize(("bad", "label", "code"), ENDINGS.values(), ids=ENDINGS)
def test_the_end_is_told_by_label_and_exit_code(decode, bad, label, code):
    run = decode(HI + bad, "--max-event-bytes", "60")
    assert (run.said[0], run.code) == (label, code)


@pytest.mark.parametrize(("bad", "label", "code"), ENDINGS.values(), ids=ENDINGS)
def test_what_came_before_the_end_is_printed(decode, bad, label, code):
    assert decode(HI + bad, "--max-event-bytes", "60").lines[0] == HI_LINE


def test_a_drop_before_the_first_event_has_no_id(decode):
    assert decode(b"").said[0] == "[connection_dropped] last_sse_id=None reason='end of stream'"


def test_a_drop_within_an_event_says_that_it_is_lost(decode):
    assert decode(HI + b"data: {").said[0] == (
        "[connection_dropped] last_sse_id=42:1 reason='end of stream; unfinished event lost'"
    )


# --wire


def test_a_frame_is_a_line_with_its_event_data_and_id(decode):
    frame = encode_event("Hi\nthere", event="greeting", id="7")
    assert decode(frame, "--wire").stdout == (
        b'{"event": "greeting", "data": "Hi\\nthere", "id": "7"}\n'
    )


def test_frames_need_no_turn(decode):
    run = decode(b"data: not JSON\n\n", "--wire")
    assert run.lines == [{"event": "message", "data": "not JSON", "id": ""}]
    assert run.code == 0


def test_a_frame_without_data_is_a_frame(decode):
    assert decode(b"data\n\n", "--wire").lines == [{"event": "message", "data": "", "id": ""}]


def test_the_summary_counts_frames_and_bytes(decode):
    assert decode(HI + DONE, "--wire").said == [f"2 frames, {len(HI + DONE)} bytes read"]


def test_an_unfinished_frame_is_said_to_be_dropped(decode):
    run = decode(b"data: a\n\ndata: b\n", "--wire")
    assert run.said == ["1 frames, 17 bytes read; unfinished event dropped"]
    assert run.code == 0


def test_frames_after_one_that_is_too_large_still_come(decode):
    run = decode(b"data: 1\n\ndata: 12345\n\ndata: 2\n\n", "--wire", "--max-event-bytes", "10")
    assert [line["data"] for line in run.lines] == ["1", "2"]
    assert run.said[0] == "[event_too_large] limit=10"
    assert run.code == 22


def test_comments_are_left_out(decode):
    assert decode(encode_comment("keep-alive") + HI, "--wire").lines[0]["event"] == "message"


def test_comments_are_printed_when_asked_for(decode):
    run = decode(b"data: a\n: one\n\n: two\n", "--wire", "--comments")
    assert run.lines == [
        {"comment": "one"},
        {"event": "message", "data": "a", "id": ""},
        {"comment": "two"},
    ]


def test_comments_are_no_frames(decode):
    assert decode(b": one\n", "--wire", "--comments").said == ["0 frames, 6 bytes read"]


# How lines look


def test_only_the_frames_with_a_name_are_printed(decode):
    stream = b"event: a\ndata: 1\n\ndata: 2\n\nevent: b\ndata: 3\n\n: x\n"
    run = decode(stream, "--wire", "--comments", "--event", "a", "--event", "message")
    assert [line["data"] for line in run.lines] == ["1", "2"]
    assert run.said[0].startswith("3 frames, ")


def test_the_events_of_a_turn_have_no_event_name(decode):
    run = decode(HI + DONE, "--event", "a")
    assert (run.code, run.lines, len(run.said)) == (2, [], 1)
    assert "--event needs --wire" in run.said[0]


def test_pretty_lines_are_indented(decode):
    run = decode(HI, "--pretty")
    body = '{\n    "type": "text",\n    "text": "Hi"\n  }'
    text = f'{{\n  "type": "text",\n  "sse_id": "42:1",\n  "body": {body},\n  "text": "Hi"\n}}\n'
    assert run.stdout.decode() == text


@pytest.mark.parametrize("data", ["{", "NaN", "1e999", '{"a": NaN}', "[" * 200_000])
def test_data_that_is_not_json_stays_a_string(decode, data):
    frame = encode_event(data)
    assert json.loads(decode(frame, "--wire", "--pretty").stdout)["data"] == data


def test_unicode_is_written_as_it_is(decode):
    body = '{"type": "text", "text": "é\\ud83d\\udc3f\\ud800\u202e"}'
    run = decode(event(body), "--unicode")
    shown = r'"text": "é🐿\ud800\u202e"}'
    assert run.stdout.decode() == (
        f'{{"type": "text", "sse_id": "42:2", "body": {{"type": "text", {shown}, {shown}\n'
    )


# Wrong use


def test_comments_without_wire_are_wrong_usage(decode):
    run = decode(HI + DONE, "--comments")
    assert (run.code, run.lines, len(run.said)) == (2, [], 1)
    assert "--comments needs --wire" in run.said[0]


@pytest.mark.parametrize("limit", ["0", "-1", "abc", "", "1.5"])
def test_a_limit_that_is_none_is_wrong_usage(decode, limit):
    run = decode(HI + DONE, f"--max-event-bytes={limit}")
    assert (run.code, run.lines, len(run.said)) == (2, [], 1)
    assert "--max-event-bytes" in run.said[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ["nope"],
        ["decode", "--nope"],
        ["decode", "a", "b"],
        [f"n{HOSTILE}\n"],
        ["decode", f"--n{HOSTILE}\n"],
        ["decode", "a", f"b{HOSTILE}\n"],
        ["decode", f"--max-event-bytes={HOSTILE}\n"],
    ],
)
def test_wrong_usage_is_one_harmless_line(run_main, arguments):
    run = run_main(*arguments)
    assert (run.code, run.stdout, len(run.said)) == (2, b"", 1)
    assert is_harmless(run.said[0])


# Files


def test_a_missing_file_is_one_line(run_main, tmp_path):
    run = run_main("decode", str(tmp_path / "missing"))
    assert (run.code, len(run.said)) == (2, 1)
    assert run.said[0].endswith("missing': No such file or directory")


def test_a_directory_is_one_line(run_main, tmp_path):
    run = run_main("decode", str(tmp_path))
    assert (run.code, len(run.said)) == (2, 1)
    assert run.said[0].endswith("': Is a directory")


@pytest.mark.parametrize("arguments", [["decode"], ["serve", "--replay"]])
def test_a_name_that_no_file_can_have_is_one_line(run_main, arguments):
    run = run_main(*arguments, "a\0")
    assert run.said == [r"ratatoskr: cannot read 'a\x00': it is not a path"]
    assert run.code == 2


def test_a_file_that_fails_while_it_is_read_is_one_line(run_main):
    unreadable = Path("/proc/self/mem")
    if not unreadable.exists():
        pytest.skip("needs a file that opens and cannot be read")
    run = run_main("decode", str(unreadable))
    assert run.said == ["ratatoskr: cannot read '/proc/self/mem': Input/output error"]
    assert run.code == 2


def test_a_file_name_cannot_command_the_terminal(run_main):
    run = run_main("decode", "a\x1b[31m\n\u202e\udcff")
    assert run.said[0].startswith(r"ratatoskr: cannot read 'a\x1b[31m\n\u202e\udcff': ")
    assert (run.code, len(run.said)) == (2, 1)


# Text that does harm


@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_lines_of_a_turn_are_printable_ascii(decode, ascii_only):
    body = json.dumps({"type": HOSTILE, "text": HOSTILE}, ensure_ascii=ascii_only)
    run = decode(event(body) + DONE)
    assert run.lines[0]["body"] == {"type": HOSTILE, "text": HOSTILE}
    assert all(map(is_harmless, run.stdout.decode("ascii").splitlines()))


@pytest.mark.parametrize("field", ["event: ", "data: ", "id: ", ": "])
def test_the_lines_of_frames_are_printable_ascii(decode, field):
    stream = f"{field}{HOSTILE}\ndata: x\n\n".encode() + b"data: \xed\xa0\x80\n\n"
    run = decode(stream, "--wire", "--comments")
    assert len(run.lines) >= 2
    assert all(map(is_harmless, run.stdout.decode("ascii").splitlines()))


def test_a_lone_surrogate_is_read_back_as_it_came(decode):
    run = decode(event(r'{"type": "text", "text": "\ud800"}') + DONE)
    assert run.lines[0]["body"]["text"] == "\ud800"


@pytest.mark.parametrize(
    "bad",
    [
        event(HOSTILE),
        f"id: {HOSTILE[1:]}\ndata: x\n\n".encode(),
        event(r'{"type": "error", "message": "\u0000\u001b[31m\n\u202e\u009b\ud800"}'),
    ],
    ids=["data", "id", "message"],
)
def test_labels_are_printable(decode, bad):
    run = decode(HI + bad)
    assert run.code in (22, 23)
    assert len(run.said) == 2
    assert all(map(is_harmless, run.said))


# Deep nesting. How deep JSON can be read, and how deep written, differs between interpreters.


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def deep_event(depth):
    return event('{"type": "deep", "deep": ' + "[" * depth + "]" * depth + "}", seq=1)


def test_a_body_that_is_nested_too_deep_to_read_is_malformed(decode):
    run = decode(HI + deep_event(200_000) + DONE)
    assert run.lines == [HI_LINE]
    assert run.said[0] == f"""[malformed_sse_data] raw='{{"type": "deep", "deep": {"[" * 175}'"""
    assert run.code == 22


def test_no_depth_around_the_deepest_that_is_read_ends_in_a_traceback(decode):
    def code(depth):
        return decode(deep_event(depth) + DONE).code

    low, high = 1, 200_000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if code(middle) == 0 else (low, middle)
    assert {code(low + offset) for offset in range(-3, 5)} == {0, 22}


def test_a_body_that_cannot_be_written_is_the_first_200_characters_of_its_text():
    text = '{"type": "deep", "text": "' + "é" * 300 + '"}'
    body = json_lines.loads(text)
    body["deep"] = nested(200_000)
    line = json_lines.JsonLines().event(Unknown("deep", sse_id=SseId(42, 1), body=body))
    assert json.loads(line) == {"type": "deep", "sse_id": "42:1", "raw": text[:200]}
    assert line.isascii()


def test_a_body_keeps_the_spelling_of_the_server(decode):
    body = '{"type":"text", "text":"Hi","a":1.10,"a":1E2,"b":[ ]}'
    assert decode(event(body) + DONE).stdout.splitlines()[0].decode() == (
        f'{{"type": "text", "sse_id": "42:2", "body": {body}, "text": "Hi"}}'
    )


@pytest.mark.parametrize(
    "body", ['\n{"type":\n"tool",\n"a": 1}\n', '{"type": "tool", "a": "\x7fé"} ']
)
def test_a_body_over_several_lines_is_one_line(decode, body):
    run = decode(event(body) + DONE)
    assert run.lines[0]["body"] == json.loads(body)
    assert all(line.isprintable() for line in run.stdout.decode("ascii").splitlines())


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1E+999"])
def test_a_number_that_json_does_not_have_is_a_string_of_what_the_server_wrote(decode, number):
    body = '{"type": "text", "text": "Hi", "more": [%s, 1.5, 1e3]}'
    assert (
        b'{"type": "text", "sse_id": "42:2", "body": %s, "text": "Hi"}\n'
        % ((body.replace("1e3", "1000.0") % f'"{number}"').encode())
        in decode(event(body % number) + DONE).stdout
    )


def test_a_number_that_json_does_not_have_in_a_body_of_somebody_else_is_left_out():
    line = json_lines.JsonLines().event(Unknown("x", sse_id=SseId(42, 1), body={"x": float("nan")}))
    assert json.loads(line) == {"type": "x", "sse_id": "42:1", "raw": ""}
