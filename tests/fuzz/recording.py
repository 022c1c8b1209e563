"""The reader of recordings: any file gives chunks and then at most a ``RecordingError``, the same
however it is read; and what was recorded comes out again.
"""

import base64
import json
import math
from collections.abc import Callable
from typing import Any

from fuzz.inputs import Choices, chosen, pieces, streams
from ratatoskr._shown.recorder import Recorder
from ratatoskr._shown.recording import RecordedStream, RecordingError

HEAD = b'{"ratatoskr_recording": 1, "content_type": "text/event-stream"}\n'
AFTER_BOM = b'\xef\xbb\xbf{"ratatoskr_recording"'
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
LINES = [
    b'{"t": 0.5, "data": "aGk="}\n',
    b'{"t": 1e999, "data": ""}\n',
    b'{"t": 1' + b"0" * 400 + b', "data": ""}\n',
    b'{"t": NaN, "data": "aGk="}\n',
    b'{"t": "1", "data": "aGk="}\n',
    b'{"t": 1, "data": "a"}\n',
    b'{"t": 1}\n',
    b'{"t": 1, "reconnects": 1}\n',
    b'{"data": []}\n',
    b'{"end": "reset"}\n',
    b'{"end": [null]}\n',
    b'["end"]\n',
    b'"end"\n',
    b"[" * 200 + b"\n",
    b"\xff\n",
    b"\n",
    b"{",
]


def recorded(chunks: list[bytes], end: str) -> bytes:
    lines: list[str] = []
    recorder = Recorder(lines.append)
    for chunk in chunks:
        recorder.chunk(chunk)
    recorder.end(end)
    return "".join(lines).encode("ascii")


def seeds() -> list[bytes]:
    files = [HEAD + LINES[0] + line + LINES[0] for line in LINES]
    files += [start + HEAD for start in (b"\xef\xbb\xbf", b"\xff\xfe")] + [
        HEAD.decode().encode("utf-16")
    ]
    files += [HEAD.replace(b"1", b"2"), HEAD[:10], HEAD.replace(b"1", b'"1"'), b"[]"]
    files += [recorded(chunks, "end of stream") for chunks in streams()[::16]]
    files += [b"".join(chunks) for chunks in streams()[::32]]
    return [chosen(sizes) + each for sizes in ([], [10, 1, 40]) for each in files]


def read(parts: list[bytes]) -> tuple[list[float], list[bytes], str, str]:
    """The times, the chunks, the reason of the end and the error, if there is one."""
    stream = RecordedStream(reader([part for part in parts if part]))
    timed: list[Any] = []
    said = ""
    try:
        for each in stream.timed_chunks():
            timed.append(each)
    except RecordingError as error:
        said = str(error)
    assert stream.bytes_read <= sum(map(len, parts))
    assert all(
        type(seconds) is float and type(chunk) in (bytes, type(None)) for seconds, chunk in timed
    )
    times = [seconds for seconds, _ in timed]
    assert all(map(math.isfinite, times))
    return times, [chunk for _, chunk in timed], stream.end_reason, said


def reader(parts: list[bytes]) -> Callable[[int], bytes]:
    left = iter(parts)
    return lambda size: next(left, b"")


def check(data: bytes) -> None:
    choices = Choices(data)
    sizes = choices.bytes()
    file = choices.rest()
    cut = pieces(file, sizes)
    times, chunks, end, said = read([file])
    if file.startswith(b'{"ratatoskr_recording"'):
        assert read(cut) == (times, chunks, end, said)
    elif file.startswith(AFTER_BOM) or (file.startswith(UTF_16) and 0 in file[2:4]):
        assert read(cut) == (times, chunks, end, said)
        assert (chunks, said != "") == ([], True)
    else:
        assert (b"".join(chunks), end, said) == (file, "end of stream", "")
        assert b"".join(read(cut)[1]) == file
    written = recorded(cut, end)
    assert read([written])[1:] == (cut, end, "")
    entry = json.loads(written.splitlines()[1])
    assert base64.b64decode(entry["data"]) == cut[0]
