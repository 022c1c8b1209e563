"""A tap on a stream sees its bytes as they come."""

import gzip

import anyio
import httpx
import pytest
from support.frames import done

from ratatoskr_proto import encode_comment
from ratatoskr_transports import EventStream, SyncTurnStream, TurnStream
from ratatoskr_transports.httpx import stream_turn_sync
from ratatoskr_transports.testing import ScriptedSource, SyncScriptedSource

PIECES = [encode_comment("alive"), done(1)]


def test_tap_of_an_async_stream_sees_each_piece_before_its_event():
    async def main(kind):
        seen = []
        stream = kind(ScriptedSource(PIECES))
        stream.tap(seen.append)
        await anext(stream)
        assert seen == PIECES
        await stream.aclose()

    for kind in (TurnStream, EventStream):
        anyio.run(main, kind)


def test_tap_of_a_sync_stream_sees_each_piece():
    seen = []
    stream = SyncTurnStream(SyncScriptedSource(PIECES))
    stream.tap(seen.append)
    assert len(list(stream)) == 1
    assert seen == PIECES


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_tap_that_was_set_before_the_answer_sees_it_without_its_coding(coding):
    body = b"".join(PIECES)
    headers = {"content-type": "text/event-stream", "content-encoding": coding}
    content = gzip.compress(body) if coding == "gzip" else body
    seen = []

    def answer(request):
        # An iterator, since httpx reads content that it has at once.
        return httpx.Response(200, headers=headers, content=iter([content]))

    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        stream = stream_turn_sync(client, "http://example.test/")
        stream.tap(seen.append)
        with stream:
            assert [event.type for event in stream] == ["done"]
    assert b"".join(seen) == body
