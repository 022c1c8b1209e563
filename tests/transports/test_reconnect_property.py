"""The property that matters of a stream that reconnects: each event exactly once, in order, or one
final error that says from where to resume.

The server drops, replays too much, refuses, and changes ``retry``, all at random, over a clock that
only moves when something waits.
"""

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from support.frames import done, text
from support.modes import every_mode
from support.reconnecting import POLICY, RESET, World, busy

from ratatoskr_proto import SseConnectFailed, SseConnectionDropped, encode_event
from ratatoskr_transports._streams.sources import Refused

# Of each mode, so there are three times as many. test_endurance.py is for more than that.
few_examples = settings(max_examples=30)


class Act(NamedTuple):
    """What the server does with one request: it goes back ``back`` events too far, sends ``count``
    of them and breaks off in this way; or refuses.
    """

    back: int = 0
    count: int = 1000
    end: object = b""
    retry: int | None = None
    cut: int = 1000
    refusal: Refused | None = None


acts = st.builds(
    Act,
    back=st.integers(0, 5),
    count=st.integers(0, 6),
    end=st.sampled_from([RESET, TimeoutError(), b"", b"id: 99\ndata: {"]),
    retry=st.sampled_from([None, 0, 1, 5000, 10**9, 10**4000]),
    cut=st.sampled_from([1, 7, 1000]),
    refusal=st.none(),
)
refusals = st.builds(
    busy, st.sampled_from([429, 500, 503]), st.sampled_from(["", "0", "7", "9999", "soon"])
)
acts |= refusals.map(lambda refusal: Act(refusal=refusal))
SCRIPT = {"script": st.lists(acts, max_size=12), "total": st.integers(1, 20)}


class Server:
    """Answers by the acts of a script, and after its end always by the last one."""

    def __init__(self, mode, script, last, make_frames, chance):
        self.script = list(script)
        self.last = last
        self.frames = make_frames
        self.world = World(mode, self.answer, chance=chance)
        self.seen = []  # by the client
        self.given = []

    def answer(self):
        self.world.answers.append(self.answer)
        act = self.script.pop(0) if self.script else self.last
        self.given.append(act)
        if act.refusal is not None:
            return act.refusal
        start = max(0, len(self.seen) - act.back)
        retry = b"" if act.retry is None else b"retry: %d\n" % act.retry
        wire = b": hi\n" + retry + b"".join(self.frames[start : start + act.count])
        return [*(wire[at : at + act.cut] for at in range(0, len(wire), act.cut)), act.end]

    async def read(self, stream):
        """Return the error that ends the stream, or None, when all else has been checked."""
        error = None
        try:
            async with stream:
                async for item in stream:
                    self.seen.append(item)
        except (SseConnectionDropped, SseConnectFailed) as caught:
            error = caught
        world = self.world
        assert stream.reconnects == len(world.waits) == len(world.asked) - 1
        assert all(source.closed for source in world.sources)
        for act, wait in zip(self.given, world.waits, strict=False):
            asked_for = act.refusal.headers.get("retry-after", "") if act.refusal else ""
            least = float(asked_for) if asked_for.isdigit() else 0.0
            assert max(POLICY.floor, min(least, POLICY.ceiling)) <= wait
            assert wait <= POLICY.ceiling * (1 + POLICY.jitter)
        return error


def outcome_of(script, last, total, is_turn):
    """How many events come, and whether it ends well: by the rules and nothing else."""
    seen, left, was_open = 0, POLICY.attempts, False
    for act in [*script, *[last] * (POLICY.attempts + 1)]:
        if act.refusal is None:
            was_open = True
            reached = min(max(0, seen - act.back) + act.count, total)
            if reached > seen:
                seen, left = reached, POLICY.attempts
            if is_turn and seen == total:
                return seen, True
        elif act.refusal.error.status in (204, 404):
            return seen, act.refusal.error.status == 204 and was_open
        if left == 0 or (is_turn and seen == 0):
            return seen, False
        left -= 1
    raise AssertionError("after the script it ends in any case")


@every_mode
@few_examples
@given(**SCRIPT, chance=st.floats(0, 1), last=st.sampled_from([Act(), Act(refusal=busy())]))
def test_each_event_of_a_turn_comes_once_and_in_order_or_one_error_says_where_to_resume(
    mode, script, total, chance, last
):
    frames = [*map(text, range(1, total)), done(total)]
    server = Server(mode, script, last, frames, chance)

    async def main():
        turn = server.world.turn()
        error = await server.read(turn)
        seen = len(server.seen)
        assert [event.sse_id.seq for event in server.seen] == list(range(1, seen + 1))
        assert (seen, error is None) == outcome_of(script, last, total, True)
        if error is not None and seen:
            assert type(error) is SseConnectionDropped
            assert error.last_sse_id == turn.last_sse_id == (42, seen)

    mode.run(main)


@every_mode
@few_examples
@given(**SCRIPT, chance=st.floats(0, 1), status=st.sampled_from([204, 404]))
def test_each_event_of_any_stream_comes_once_and_in_order_or_one_error_ends_it(
    mode, script, total, chance, status
):
    # A replay of any stream cannot be told from new events: its server resumes after the id.
    script = [act._replace(back=0) for act in script]
    last = Act(refusal=busy(status))
    frames = [encode_event(str(number), id=f"e{number}") for number in range(1, total + 1)]
    server = Server(mode, script, last, frames, chance)

    async def main():
        events = server.world.events()
        error = await server.read(events)
        seen = len(server.seen)
        assert [event.data for event in server.seen] == [str(n + 1) for n in range(seen)]
        assert events.last_event_id == (f"e{seen}" if seen else "")
        assert (seen, error is None) == outcome_of(script, last, total, False)
        if any(act.refusal is None for act in server.given):
            assert error is None or type(error) is SseConnectionDropped

    mode.run(main)
