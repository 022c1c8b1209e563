"""The label line and the exit code of every end a turn can have."""

import pytest
from support.endings import ENDS, ID, IDS

import ratatoskr_proto
from ratatoskr._shown.labels import ExitCode, ending_label, exit_code
from ratatoskr_proto import (
    MalformedEnvelope,
    MalformedSseData,
    MalformedSseId,
    ProtocolError,
    RatatoskrError,
    ServerError,
    SseConnectFailed,
    SseConnectionDropped,
    Text,
    Unknown,
)

HOSTILE = "\0\x1b[31m\r\n'\x85\x9b\u2028\u202e\ud800"


@pytest.mark.parametrize(("end", "code", "line"), ENDS, ids=IDS)
def test_label(end, code, line):
    assert ending_label(end) == line


@pytest.mark.parametrize(("end", "code", "line"), ENDS, ids=IDS)
def test_exit_code(end, code, line):
    assert exit_code(end) == code


def test_every_public_error_is_among_those():
    public = {value for value in vars(ratatoskr_proto).values() if isinstance(value, type)}
    errors = {value for value in public if issubclass(value, RatatoskrError)}
    bases = {RatatoskrError, ProtocolError}
    assert errors - bases == {type(end) for end, _, _ in ENDS if isinstance(end, RatatoskrError)}


def test_interrupted_is_130_and_wrong_usage_2():
    assert (ExitCode.INTERRUPTED, ExitCode.USAGE) == (130, 2)


@pytest.mark.parametrize(
    "event", [Text("Hi", sse_id=ID, body={}), Unknown("x", sse_id=ID, body={})]
)
def test_an_event_that_ends_no_turn_has_no_label(event):
    with pytest.raises(TypeError, match="ends no turn"):
        ending_label(event)


@pytest.mark.parametrize(
    "end",
    [
        MalformedSseData(HOSTILE),
        MalformedSseId(HOSTILE),
        MalformedEnvelope(HOSTILE),
        SseConnectionDropped(None, HOSTILE),
        SseConnectFailed(503, HOSTILE, "status"),
        SseConnectFailed(503, "", HOSTILE),
        ServerError(HOSTILE, sse_id=ID, body={}),
    ],
)
def test_text_of_the_server_stays_on_its_line_and_off_the_terminal(end):
    assert ending_label(end).isprintable()
