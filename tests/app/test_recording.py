"""Recordings, and telling them from a raw stream by their first line."""

import base64
import codecs
import json
import os
import re
import stat

import pytest
from support.frames import done, text

from ratatoskr._shown.encoding import UTF_16, encoding_error
from ratatoskr._shown.recorder import Recorder, recording_to
from ratatoskr._shown.recording import RecordedStream, RecordingError

HEAD = {"ratatoskr_recording": 1, "content_type": "text/event-stream"}
HI = text(1, "Hi")
DONE = done(2)


def chunk(data):
    return {"t": 0.5, "data": base64.b64encode(data).decode()}


def recording(*entries):
    return "".join(json.dumps(entry) + "\n" for entry in (HEAD, *entries)).encode()


def reading(*pieces):
    """A stream that is read in these pieces."""
    left = iter(pieces)
    return RecordedStream(lambda size: next(left, b""))


def byte_by_byte(data):
    return reading(*[data[index : index + 1] for index in range(len(data))])


def until_error(stream):
    """The chunks before the error, and its message."""
    chunks = []
    with pytest.raises(RecordingError) as error:
        chunks.extend(stream)
    return chunks, str(error.value)


# As a stream


def test_the_chunks_come_out_as_they_went_in():
    chunks = [HI[:5], b"", HI[5:], bytes(range(256))]
    assert list(reading(recording(*map(chunk, chunks), {"end": "closed"}))) == chunks


def test_the_reason_of_the_end_is_kept():
    stream = reading(recording(chunk(HI), {"end": "read timeout"}))
    list(stream)
    assert stream.end_reason == "read timeout"


def test_nothing_after_the_end_is_read():
    assert list(reading(recording({"end": "closed"}), b"\n", b"what is this")) == []


def test_the_bytes_read_are_those_of_the_file():
    file = recording(chunk(HI), chunk(DONE))
    stream = reading(file)
    list(stream)
    assert stream.bytes_read == len(file)


def test_the_mark_and_the_lines_may_be_split_anywhere():
    stream = byte_by_byte(recording(chunk(HI), chunk(DONE), {"end": "reset"}))
    assert list(stream) == [HI, DONE]
    assert stream.end_reason == "reset"


def test_a_line_may_be_longer_than_a_read():
    chunks = [b"x" * 300_000, b"y"]
    file = recording(*map(chunk, chunks))
    pieces = [file[start : start + 65536] for start in range(0, len(file), 65536)]
    assert list(reading(*pieces)) == chunks


def test_a_chunk_comes_out_before_the_next_is_read():
    pieces = iter([recording(chunk(HI))])
    stream = iter(RecordedStream(lambda size: next(pieces)))
    assert next(stream) == HI


def test_a_recording_cut_between_lines_has_the_end_of_a_stream():
    stream = reading(recording(chunk(HI)))
    assert list(stream) == [HI]
    assert stream.end_reason == "end of stream"


def test_a_recording_cut_within_a_line_gives_what_is_whole_then_names_the_line():
    file = recording(chunk(HI), chunk(DONE))
    assert until_error(reading(file[:-10])) == ([HI], "line 3 of the recording cannot be read")


@pytest.mark.parametrize(
    "line",
    [
        b"not JSON",
        b"",
        b"7",
        b'"end"',
        b'["end"]',
        b'{"t": 1}',
        b'{"t": 1%s, "data": ""}' % (b"0" * 400),
        b'{"t": NaN, "data": ""}',
        b'{"t": -Infinity, "data": ""}',
        b'{"t": 1e999, "data": ""}',
        b'{"t": NaN, "reconnects": 1}',
        b'{"t": 1, "data": null}',
        b'{"t": 1, "data": "eA="}',
        b'{"t": 1, "data": "e A=="}',
        '{"t": 1, "data": "ラ"}'.encode(),
        b"\xff",
        b"[" * 200_000,
        b"9" * 5000,
    ],
    ids=lambda line: repr(line[:12]),
)
def test_a_line_that_cannot_be_read_is_named(line):
    file = recording(chunk(HI)) + line + b"\n" + recording(chunk(DONE))
    assert until_error(reading(file)) == ([HI], "line 3 of the recording cannot be read")


@pytest.mark.parametrize("version", [0, 2, "1", None, [1]])
def test_another_version_is_an_error(version):
    file = json.dumps({"ratatoskr_recording": version}).encode() + b"\n"
    assert until_error(reading(file)) == ([], "this recording is of a version that is not 1")


def test_an_endless_line_is_given_up():
    def read(size):
        reads.append(size)
        return file.pop() if file else b"x" * size

    reads, file = [], [recording(chunk(HI))]
    assert until_error(RecordedStream(read)) == (
        [HI],
        "a line of the recording is longer than 16777216 bytes",
    )
    assert sum(reads) < 17 * 1024 * 1024


# A raw stream


@pytest.mark.parametrize("pieces", [[], [HI], [HI, DONE], [b"d", b"ata"], [b"\xff"]])
def test_a_raw_stream_comes_out_as_it_is_read(pieces):
    assert list(reading(*pieces)) == pieces


@pytest.mark.parametrize("first", [b"d", b"\n", b":", b'{"x', b'{"ratatoskr_recordings'])
def test_a_raw_stream_is_not_held_back(first):
    pieces = iter([first])
    assert next(iter(RecordedStream(lambda size: next(pieces)))) == first


@pytest.mark.parametrize("stream", [b'{"ratatoskr', b'{"ratatoskr": 1}\n\n', b"{", b'{"ratatoskr"'])
def test_what_only_begins_like_a_recording_is_a_raw_stream(stream):
    assert b"".join(byte_by_byte(stream)) == stream


# Writing one


@pytest.fixture
def recorded(monkeypatch):
    """The lines of a recording of chunks that came at these seconds."""

    def recorded(*chunks, end="end of stream"):
        lines = []
        monkeypatch.setattr("time.monotonic", iter([seconds for seconds, _ in chunks]).__next__)
        recorder = Recorder(lines.append)
        for _, data in chunks:
            recorder.chunk(data)
        recorder.end(end)
        return lines

    return recorded


def test_what_was_recorded_is_read_again(recorded):
    chunks = [HI[:5], b"", HI[5:], bytes(range(256))]
    lines = recorded(*[(1.0, chunk) for chunk in chunks], end="reset")
    stream = reading("".join(lines).encode("ascii"))
    assert list(stream) == chunks
    assert stream.end_reason == "reset"


def test_the_times_are_the_seconds_since_the_first_chunk(recorded):
    lines = recorded((100.0, HI), (100.25, HI), (103.0, DONE))
    stream = reading("".join(lines).encode("ascii"))
    assert [seconds for seconds, _ in stream.timed_chunks()] == [0.0, 0.25, 3.0]


def test_each_line_is_written_at_once_and_whole(recorded):
    lines = recorded((1.0, HI), (2.0, DONE))
    assert lines == [line + "\n" for line in "".join(lines).splitlines()]
    assert json.loads(lines[0]) == HEAD
    assert json.loads(lines[-1]) == {"end": "end of stream"}


def test_nothing_is_written_of_a_stream_without_a_byte(recorded):
    assert recorded() == []


# Into a file

LINES = '{"ratatoskr_recording": 1, "content_type": "text/event-stream"}\n{"t": 0.0, "data": ""}\n'
on_posix = pytest.mark.skipif(os.name != "posix", reason="needs the files of POSIX")


@pytest.fixture
def file(tmp_path):
    """A file with something in it."""
    file = tmp_path / "old.jsonl"
    file.write_text("old")
    file.chmod(0o644)
    return file


def test_a_file_is_replaced_when_the_first_bytes_have_come(file):
    with recording_to(str(file)) as recorder:
        assert file.read_text() == "old"
        recorder.chunk(b"")
        assert file.read_text() == LINES
        recorder.end("reset")
    assert file.read_text() == LINES + '{"end": "reset"}\n'
    assert os.listdir(file.parent) == ["old.jsonl"]


@on_posix
@pytest.mark.parametrize("name", ["old.jsonl", "new.jsonl"])
def test_only_its_owner_can_read_a_recording(file, name):
    path = file.with_name(name)
    with recording_to(str(path)) as recorder:
        recorder.chunk(b"")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_is_left_alone_when_nothing_came(file):
    with recording_to(str(file)) as recorder:
        recorder.end("refused")
    assert file.read_text() == "old"
    assert os.listdir(file.parent) == ["old.jsonl"]


def test_a_failure_leaves_what_came(file):
    def fail():
        with recording_to(str(file)) as recorder:
            recorder.chunk(b"")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert file.read_text() == LINES


def test_a_name_without_a_folder_is_in_the_current_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with recording_to("here.jsonl") as recorder:
        recorder.chunk(b"")
    assert (tmp_path / "here.jsonl").read_text() == LINES


@on_posix
@pytest.mark.parametrize("target", ["old.jsonl", "missing"])
def test_a_symbolic_link_to_a_file_is_refused_by_name(file, target):
    link = file.with_name("link")
    link.symlink_to(file.with_name(target))
    refused = f"cannot write '{link}': it is a symbolic link; name the file itself"
    with pytest.raises(RecordingError, match=re.escape(refused)), recording_to(str(link)):
        pass
    assert sorted(os.listdir(file.parent)) == ["link", "old.jsonl"]
    assert file.read_text() == "old"


@on_posix
@pytest.mark.parametrize("linked", [False, True])
def test_a_device_is_written_as_it_is(tmp_path, linked):
    device = "/dev/null"
    if linked:
        (tmp_path / "null").symlink_to(device)
        device = str(tmp_path / "null")
    with recording_to(device) as recorder:
        recorder.chunk(b"")
    assert stat.S_ISCHR(os.stat(device).st_mode)


@on_posix
def test_a_pipe_is_written_as_it_comes(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with recording_to(str(pipe)) as recorder:
        recorder.chunk(b"")
        assert os.read(reader, 1000).decode() == LINES
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("path", ["", "missing/x", "old.jsonl/x", "new/", "\0", "."])
def test_a_path_that_cannot_be_written_is_an_error_at_once(file, monkeypatch, path):
    monkeypatch.chdir(file.parent)
    with pytest.raises(RecordingError) as error, recording_to(path):
        pass
    assert str(error.value).startswith(f"cannot write {path!r}: ")
    assert os.listdir(file.parent) == ["old.jsonl"]


def test_a_file_that_cannot_be_replaced_is_an_error_when_bytes_come(file):
    path = file.with_name("new.jsonl")
    with recording_to(str(path)) as recorder:
        path.mkdir()
        with pytest.raises(RecordingError, match="cannot write"):
            recorder.chunk(b"")
    assert sorted(os.listdir(file.parent)) == ["new.jsonl", "old.jsonl"]


# Files of another encoding

WIDE = ("utf-16-le", "utf-16-be")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_recording_in_another_encoding_is_named(decode, encoding):
    run = decode(recording(chunk(HI)).decode().encode(encoding))
    wrong = "it is UTF-16" if encoding == "utf-16" else "it begins with a byte order mark"
    assert (len(run.said), run.lines, run.code) == (1, [], 2)
    assert wrong in run.said[0]


@pytest.mark.parametrize(
    "file", [codecs.BOM_UTF8 + b'{"ratatoskr_recording": 1}', *map("\ufeffid: 1\n".encode, WIDE)]
)
def test_the_encoding_is_known_however_the_file_is_read(file):
    assert until_error(byte_by_byte(file)) == ([], encoding_error(file))
    assert until_error(reading(file)) == ([], encoding_error(file))


@pytest.mark.parametrize("start", UTF_16)
@pytest.mark.parametrize("rest", [b"", b"d", b"data: a\n\ndata: b\n\n"])
def test_the_mark_of_utf_16_before_anything_else_is_a_raw_stream(decode, start, rest):
    assert b"".join(byte_by_byte(start + rest)) == start + rest
    run = decode(start + rest, "--wire")
    assert run.code == 0
    assert [line["data"] for line in run.lines] == ["b"] * rest.count(b"b")


def test_a_raw_stream_may_begin_with_a_byte_order_mark(decode):
    run = decode(codecs.BOM_UTF8 + HI + DONE)
    assert (len(run.lines), run.code) == (2, 0)


# ratatoskr decode


def test_a_recording_is_decoded_like_its_stream(decode):
    recorded = decode(recording(chunk(HI[:9]), chunk(HI[9:]), chunk(DONE), {"end": "x"}))
    raw = decode(HI + DONE)
    assert recorded.lines == raw.lines
    assert (recorded.said[0], recorded.code) == (raw.said[0], raw.code)


def test_a_recording_is_decoded_to_frames(decode):
    run = decode(recording(chunk(b"data: a\n\n"), {"end": "reset"}), "--wire")
    assert run.lines == [{"event": "message", "data": "a", "id": ""}]
    assert run.code == 0


@pytest.mark.parametrize("options", [[], ["--wire"]])
def test_the_times_of_a_recording_are_added(decode, options):
    entries = [chunk(HI), {"t": 1.25, "data": chunk(DONE)["data"]}]
    assert [line["t"] for line in decode(recording(*entries), "--times", *options).lines] == [
        0.5,
        1.25,
    ]
    run = decode(HI + DONE, "--times", *options)
    assert run.said[0].endswith("this is not a recording, so it has no times")
    assert (len(run.said), run.lines, run.code) == (1, [], 2)


def test_the_end_of_a_recording_is_the_reason_of_the_drop(decode):
    run = decode(recording(chunk(HI), {"end": "read timeout\x1b"}))
    assert run.said[0] == r"[connection_dropped] last_sse_id=42:1 reason='read timeout\x1b'"
    assert run.code == 21


@pytest.mark.parametrize("options", [[], ["--wire"]])
def test_a_broken_recording_is_one_line_after_what_came_before(decode, options):
    run = decode(recording(chunk(HI), {"data": "?"}), *options)
    assert len(run.lines) == 1
    assert len(run.said) == 1
    assert run.said[0].endswith("stream': line 3 of the recording cannot be read")
    assert run.code == 2


def test_a_broken_recording_on_stdin_is_named_so(run_process):
    run = run_process("decode", stdin=b'{"ratatoskr_recording": 2}\n')
    assert run.said == ["ratatoskr: stdin: this recording is of a version that is not 1"]
    assert run.code == 2
