"""``ratatoskr decode`` as a process: pipes, as they come."""

import os

import pytest

from ratatoskr_proto import encode_event

if os.name != "posix":
    pytest.skip("needs the pipes of POSIX", allow_module_level=True)

HI = encode_event('{"type": "text", "text": "Hi"}', id="42:1")
DONE = encode_event('{"type": "done"}', id="42:2")


@pytest.mark.parametrize("options", [[], ["--wire"]])
def test_a_line_is_written_before_the_next_frame_is_sent(start, options):
    process = start("decode", *options, bufsize=0)
    for seq in (1, 2, 3):
        process.stdin.write(encode_event('{"type": "x"}', id=f"42:{seq}"))
        assert b"42:%d" % seq in process.stdout.readline()


def test_the_end_of_the_turn_is_not_waited_for_on_stdin(start):
    process = start("decode", "-", bufsize=0)
    process.stdin.write(HI + DONE)
    assert process.wait() == 0
    assert process.stderr.read().splitlines() == [
        b"[done]",
        b"2 events, %d bytes read" % len(HI + DONE),
    ]


def test_a_reader_that_goes_away_ends_it_in_silence(start):
    process = start("decode", bufsize=0)
    process.stdin.write(HI)
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(HI)
    assert process.wait() == 0
    assert process.stderr.read() == b""


def test_wrong_usage_exits_2_though_nobody_listens(run_process, gone):
    assert run_process("decode", "missing", stderr=gone).code == 2
