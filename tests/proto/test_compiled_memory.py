"""The wire layer in C keeps no memory that it does not need, and survives running out of it."""

import gc
import subprocess
import sys
import tracemalloc

import pytest

from ratatoskr_proto import ServerSentEvent

compiled = pytest.importorskip(
    "ratatoskr_proto._compiled", reason="the C version of the wire layer was not built"
)
MIB = 1024 * 1024


def test_nothing_of_the_chunk_is_kept():
    chunk = bytearray(b"id: 1\nevent: e\ndata: one\ndata: tw")
    decoder = compiled.EventStreamDecoder()
    decoder.receive_data(chunk)
    chunk[:] = bytes(len(chunk))
    assert decoder.receive_data(b"o\n\n") == [ServerSentEvent("e", "one\ntwo", "1")]


def test_memory_comes_back():
    chunks = [b"id: ", b"x" * 1000, b"\ndata: ", b"y" * MIB, b"\ndata: ", b"z" * MIB, b"\n\n"]

    def read():
        decoder = compiled.EventStreamDecoder(comments=True)
        for chunk in [*chunks, b": c\n", b"retry: 12345\n", *chunks]:
            decoder.receive_data(chunk)
        return decoder

    read()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            read()
        gc.collect()
        # A chunk kept would be a megabyte; what other code keeps meanwhile is little.
        assert tracemalloc.get_traced_memory()[0] - before < 65536
        decoder = read()
        assert tracemalloc.get_traced_memory()[0] - before < 65536
        del decoder
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("field", [b"data: ", b"id: ", b"event: "])
def test_long_line_is_not_copied_when_it_ends(field):
    decoder = compiled.EventStreamDecoder()
    tracemalloc.start()
    try:
        for piece in (field, *[b"x" * 1024] * 1024, b"\n"):
            decoder.receive_data(piece)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * MIB
    finally:
        tracemalloc.stop()


STREAM = (
    b"\xef\xbb\xbfid: \xc3\xa9\nevent: e\ndata: one\ndata: two\nretry: 99999999999999999999\n"
    b": comment\n\n" + b"data: " + b"x" * 300 + b"\n\ndata: unfinished\nid: 9\nevent: f"
)


FAILING_ALLOCATIONS = f"""
import sys, _testcapi
from ratatoskr_proto import ServerSentEvent
from ratatoskr_proto._compiled import EventStreamDecoder

stream = {STREAM!r}
ended = 0
for cuts in ([stream], [stream[n : n + 7] for n in range(0, len(stream), 7)]):
    for at in range(400):
        decoder = EventStreamDecoder(300, comments=True)
        failed = False
        _testcapi.set_nomemory(at, at + 1)
        try:
            for chunk in cuts:
                decoder.receive_data(chunk)
        except MemoryError:
            failed = True
        finally:
            _testcapi.remove_mem_hooks()
        # It can be used, or says that it cannot; it is never in between.
        decoder.last_event_id, decoder.retry_ms, decoder.pending, decoder.over
        try:
            items = decoder.receive_data(b"\\n\\ndata: next\\n\\n") + decoder.receive_eof()
        except RuntimeError as error:
            assert failed and "memory" in str(error), error
        else:
            assert items[-1].data == "next", items
        ended += not failed
assert ended, "no run came to its end"
print("ended", ended)
"""


def test_memory_that_runs_out_leaves_a_decoder_that_says_so():
    pytest.importorskip("_testcapi", reason="this Python has no _testcapi, which fails allocations")
    run = subprocess.run(
        [sys.executable, "-c", FAILING_ALLOCATIONS], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("ended")


INTERPRETERS = """
import sys
try:
    import _interpreters
except ImportError:
    import _xxsubinterpreters as _interpreters
for _ in range(3):
    interpreter = _interpreters.create()
    failure = _interpreters.run_string(interpreter, '''
from ratatoskr_proto._compiled import EventStreamDecoder
assert EventStreamDecoder().receive_data(b"data: x\\\\n\\\\n")[0].data == "x"
''')
    assert failure is None, failure
    _interpreters.destroy(interpreter)
print("well")
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no interpreter has a lock of its own")
def test_interpreters_with_a_lock_of_their_own():
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", INTERPRETERS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "well\n", run.stderr
