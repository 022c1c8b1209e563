"""When to reconnect: the waits, the attempts, the final errors, and what no server can cause."""

import copy
import math
import pickle
import sys
from datetime import UTC, datetime
from email.utils import format_datetime, formatdate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ratatoskr_proto import (
    EventTooLarge,
    GiveUp,
    MalformedSseData,
    MalformedSseId,
    Reconnector,
    ReconnectPolicy,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
    TurnIdFlip,
    Wait,
    is_retryable,
)

RESET = SseConnectionDropped(SseId(42, 7), "reset (ConnectionResetError); unfinished event lost")
BUSY = SseConnectFailed(503, "later", "status")
CLOSED = SseConnectionDropped(SseId(42, 7), "closed")
NOW = 784111777.0  # Sun, 06 Nov 1994 08:49:37 GMT, the date that RFC 9110 writes in three ways
PLAIN = ReconnectPolicy(attempts=20, floor=1, ceiling=60, factor=2, jitter=0)


def waits(reconnector, times, error=RESET, jitter=0.0):
    return [reconnector.lost(error, jitter).seconds for _ in range(times)]


def test_waits_grow_from_the_floor_to_the_ceiling():
    assert waits(Reconnector(PLAIN), 8) == [1, 2, 4, 8, 16, 32, 60, 60]
    steady = ReconnectPolicy(floor=3, factor=1, jitter=0)
    assert waits(Reconnector(steady), 3) == [3, 3, 3]


def test_default_policy_tries_for_about_two_minutes():
    reconnector = Reconnector()
    assert sum(waits(reconnector, 8)) == 121
    assert isinstance(reconnector.lost(RESET, 0.0), GiveUp)


def test_jitter_adds_up_to_its_fraction_to_every_wait_and_at_the_ceiling_too():
    policy = ReconnectPolicy(floor=10, ceiling=24, jitter=0.5)
    for chance, expected in [(0, [10, 20, 24]), (0.5, [12.5, 25, 30]), (1.0, [15, 30, 36])]:
        assert waits(Reconnector(policy), 3, jitter=chance) == expected


def test_clients_sent_away_with_one_long_retry_after_come_back_apart():
    seconds = []
    for chance in (0.0, 0.5, 1.0):
        reconnector = Reconnector(ReconnectPolicy(ceiling=30, jitter=0.5))
        reconnector.retry_after("3000", NOW)
        seconds += waits(reconnector, 1, jitter=chance)
    assert seconds == [30, 37.5, 45]


def test_progress_makes_waits_short_again_and_an_opening_does_not():
    reconnector = Reconnector(PLAIN)
    assert waits(reconnector, 2) == [1, 2]
    reconnector.opened()
    assert waits(reconnector, 1) == [4]
    reconnector.opened()
    reconnector.progress()
    assert waits(reconnector, 2) == [1, 2]


def test_budget_is_refilled_by_progress_only():
    reconnector = Reconnector(ReconnectPolicy(attempts=2))
    for _ in range(3):
        waits(reconnector, 2)
        reconnector.progress()
    waits(reconnector, 1)
    reconnector.opened()
    waits(reconnector, 1)
    assert reconnector.lost(RESET, 0.0) == GiveUp("no progress in 2 attempts")


def test_no_attempts_is_never_and_none_is_for_ever():
    reconnector = Reconnector(ReconnectPolicy(attempts=0))
    assert isinstance(reconnector.lost(RESET, 0.0), GiveUp)
    # The growth alone would pass every float.
    assert waits(Reconnector(ReconnectPolicy(attempts=None)), 5000, jitter=1.0)[-1] == 45


def test_given_up_stays_given_up():
    reconnector = Reconnector(PLAIN)
    answer = reconnector.lost(MalformedSseData("?"), 0.0)
    assert answer == GiveUp("MalformedSseData is final")
    reconnector.opened()
    reconnector.progress()
    assert reconnector.lost(RESET, 0.0) == reconnector.lost(RESET, 1.0) == answer


@pytest.mark.parametrize(
    ("ms", "first"),
    [
        (None, 1),
        (0, 1),  # must not spin
        (1, 1),
        (1500, 1.5),
        (7000, 7),
        (59999, 59.999),
        (60000, 60),
        (10**4299, 60),  # as long as the wire layer takes one, and longer than a float
    ],
)
def test_retry_of_the_server_is_the_first_wait_within_bounds(ms, first):
    reconnector = Reconnector(PLAIN)
    reconnector.retry_ms(ms)
    assert waits(reconnector, 2) == [first, min(2 * first, 60)]


def test_retry_may_change_and_is_kept():
    reconnector = Reconnector(PLAIN)
    reconnector.retry_ms(5000)
    reconnector.retry_ms(None)
    assert waits(reconnector, 2) == [5, 10]
    reconnector.retry_ms(2000)
    assert waits(reconnector, 1) == [8]
    reconnector.progress()
    assert waits(reconnector, 1) == [2]


@pytest.mark.parametrize("ceiling", [1e300, 1.7e308])
def test_huge_retry_fits_under_a_huge_ceiling(ceiling):
    reconnector = Reconnector(ReconnectPolicy(ceiling=ceiling, jitter=1))
    reconnector.retry_ms(10**312)
    longest = min(2 * ceiling, sys.float_info.max)
    assert waits(reconnector, 2, jitter=1.0) == [longest, longest]


ONE_MINUTE = ReconnectPolicy(attempts=20, floor=1, ceiling=100, factor=2, jitter=0)


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("0", 1),
        ("7", 7),
        (" 7\t", 7),
        ("007", 7),
        ("100", 100),
        ("101", 100),
        ("9" * 5000, 100),
        # The three forms of a date, 50 seconds from now.
        ("Sun, 06 Nov 1994 08:50:27 GMT", 50),
        ("Sunday, 06-Nov-94 08:50:27 GMT", 50),
        ("Sun, 06 Nov 1994 09:50:27 +0100", 50),
        ("Sun, 06 Nov 1994 08:50:27 -0000", 50),
        ("Sun Nov  6 08:50:27 1994", 50),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 1),  # now
        ("Sun, 06 Nov 1964 08:49:37 GMT", 1),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 100),
        *[
            (junk, 1)
            for junk in [
                *["", " ", "-7", "+7", "7.5", "7e3", "1_0", "7 seconds", "٧", "nan", "inf", "7, 8"],
                *["Sun, 99 Nov 1994 08:50:27 GMT", "Sun, 06 Nov 99999999999999999999 08:50 GMT"],
                *[
                    "Sun, 06 Nov 1994 08:50:27 +99999999",
                    "a b c d e f",
                    ",",
                    "soon",
                    "\0",
                    "\ud800",
                ],
                *["Sun, 06 Nov 1994 99:99:99 GMT", "Sun, 06 Nov " + "9" * 5000 + " 08:50:27 GMT"],
            ]
        ],
    ],
)
def test_retry_after_is_the_least_to_wait_within_bounds(value, wait):
    reconnector = Reconnector(ONE_MINUTE)
    reconnector.retry_after(value, NOW)
    # And it holds for one wait.
    assert waits(reconnector, 2, BUSY) == [wait, 2]


def test_retry_after_does_not_shorten_a_wait_and_has_its_jitter():
    reconnector = Reconnector(PLAIN)
    waits(reconnector, 4)
    reconnector.retry_after("3", NOW)
    assert waits(reconnector, 1) == [16]
    reconnector = Reconnector(ReconnectPolicy(ceiling=60, jitter=0.5))
    reconnector.retry_after("20", NOW)
    assert waits(reconnector, 1, jitter=1.0) == [30]


def test_retry_after_is_void_once_there_is_a_stream():
    reconnector = Reconnector(PLAIN)
    reconnector.retry_after("20", NOW)
    reconnector.opened()
    assert waits(reconnector, 1) == [1]


@given(st.text(), st.floats(allow_nan=False, allow_infinity=False))
@example("Sun, 06 Nov 0000 00:00:00 +2359", 1.7e308)
def test_no_retry_after_raises(value, now):
    reconnector = Reconnector(PLAIN)
    reconnector.retry_after(value, now)
    assert 1 <= reconnector.lost(BUSY, 0.5).seconds <= 60


@given(st.datetimes(datetime(1970, 1, 1), datetime(9998, 1, 1)), st.integers(-86399, 86399))
def test_every_http_date_is_read(date, offset):
    date = date.replace(microsecond=0, tzinfo=UTC)
    reconnector = Reconnector(ReconnectPolicy(floor=1, ceiling=1e9, jitter=0))
    reconnector.retry_after(format_datetime(date, usegmt=True), date.timestamp() - offset)
    assert waits(reconnector, 1) == [max(1, offset)]


FINAL = [
    CLOSED,
    SseConnectionDropped(None, "closed; unfinished event lost"),
    SseConnectionDropped(None, "event timeout"),
    MalformedSseData("?"),
    MalformedSseId("?"),
    TurnIdFlip(1, 2),
    EventTooLarge(5),
    *[SseConnectFailed(status, "", "status") for status in (204, 400, 401, 403, 404, 410, 501)],
    SseConnectFailed(302, "", "redirect to http://host/"),
    SseConnectFailed(None, "", "redirect (TooManyRedirects)"),
    SseConnectFailed(200, "", "content-type"),
    SseConnectFailed(200, "", "content-encoding"),
    SseConnectFailed(None, "", "tls (SSLCertVerificationError)"),
    SseConnectFailed(None, "", "protocol"),
]
WORTH_IT = [
    RESET,
    *[
        SseConnectionDropped(None, reason)
        for reason in ("end of stream", "cut body", "protocol", "read timeout (ReadTimeout)")
    ],
    *[SseConnectFailed(status, "", "status") for status in (408, 425, 429, 500, 502, 503, 504)],
    *[
        SseConnectFailed(None, "", f"{reason} (AnError)")
        for reason in ("dns", "refused", "unreachable", "closed", "read timeout")
    ],
    SseConnectFailed(None, "", "connect timeout"),
    SseConnectFailed(None, "", "pool timeout"),
]


@pytest.mark.parametrize("error", FINAL, ids=repr)
def test_what_another_try_does_not_change_is_final(error):
    assert not is_retryable(error)
    assert isinstance(Reconnector(PLAIN).lost(error, 0.0), GiveUp)


@pytest.mark.parametrize("error", WORTH_IT, ids=repr)
def test_connection_that_was_lost_or_failed_is_worth_another_try(error):
    assert is_retryable(error)
    assert Reconnector(PLAIN).lost(error, 0.0) == Wait(1)


def test_policy_says_what_is_retryable_but_not_against_the_will_of_either_side():
    keen = ReconnectPolicy(retryable=lambda error: True)
    for word in ("closed", "closed (ClosedResourceError)", "closed; unfinished event lost"):
        closed = SseConnectionDropped(None, word)
        assert Reconnector(keen).lost(closed, 0.0) == GiveUp("the stream was closed")
    assert isinstance(Reconnector(keen).lost(SseConnectFailed(404, "", "status"), 0.0), Wait)
    for error in (CLOSED, MalformedSseData("?"), SseConnectFailed(204, "", "status")):
        assert isinstance(Reconnector(keen).lost(error, 0.0), GiveUp)
    shy = ReconnectPolicy(retryable=lambda error: is_retryable(error) and error is not BUSY)
    assert Reconnector(shy).lost(BUSY, 0.0) == GiveUp("status is not worth another try")
    assert isinstance(Reconnector(shy).lost(RESET, 0.0), Wait)


def test_bug_in_retryable_comes_through():
    def retryable(error):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Reconnector(ReconnectPolicy(retryable=retryable)).lost(RESET, 0.0)


calls = st.one_of(
    st.just(("opened",)),
    st.just(("progress",)),
    st.tuples(st.just("retry_ms"), st.none() | st.integers(0, 10**400)),
    st.tuples(
        st.just("retry_after"),
        st.integers(0, 10**400).map(str) | st.just(formatdate(NOW + 9, usegmt=True)),
        st.just(NOW),
    ),
    st.tuples(st.just("lost"), st.sampled_from([RESET, BUSY]), st.floats(0, 1)),
)


@given(
    st.integers(0, 5),
    st.floats(1e-3, 1e3),
    st.floats(1, 1e9),
    st.floats(1, 1e9),
    st.floats(0, 1),
    st.lists(calls, max_size=60),
)
def test_nothing_a_server_does_makes_it_spin_or_wait_for_ever_or_try_for_ever(
    attempts, floor, width, factor, jitter, script
):
    policy = ReconnectPolicy(attempts, floor, floor * width, factor, jitter)
    reconnector = Reconnector(policy)
    left = attempts
    given_up = None
    for name, *arguments in script:
        answer = getattr(reconnector, name)(*arguments)
        if name == "progress":
            left = attempts
        elif name == "lost" and (given_up or left == 0):
            assert isinstance(answer, GiveUp)
            given_up = given_up or answer
            assert answer == given_up
        elif name == "lost":
            assert isinstance(answer, Wait)
            longest = min(policy.ceiling * (1 + policy.jitter), sys.float_info.max)
            assert policy.floor <= answer.seconds <= longest
            left -= 1


def test_values_are_values():
    policy = ReconnectPolicy(attempts=3)
    assert policy == ReconnectPolicy(attempts=3) != ReconnectPolicy()
    assert pickle.loads(pickle.dumps(policy)) == copy.copy(policy) == policy
    assert hash(policy) == hash(ReconnectPolicy(attempts=3))
    with pytest.raises(AttributeError):
        policy.attempts = 4
    match Reconnector(policy).lost(RESET, 0.0), GiveUp("why"):
        case Wait(seconds), GiveUp(reason):
            assert (seconds, reason) == (1, "why")


BAD_POLICIES = [
    ({"attempts": 1.5}, TypeError),
    ({"attempts": True}, TypeError),
    ({"attempts": "3"}, TypeError),
    ({"attempts": -1}, ValueError),
    ({"floor": 0}, ValueError),
    ({"floor": -1}, ValueError),
    ({"floor": 31}, ValueError),
    ({"ceiling": 0.5}, ValueError),
    ({"factor": 0.5}, ValueError),
    ({"jitter": -0.1}, ValueError),
    ({"jitter": 1.1}, ValueError),
    ({"retryable": None}, TypeError),
    *[
        ({name: value}, kind)
        for name in ("floor", "ceiling", "factor", "jitter")
        for value, kind in [
            ("1", TypeError),
            (None, TypeError),
            (True, TypeError),
            (math.nan, ValueError),
            (math.inf, ValueError),
            (10**400, ValueError),
        ]
    ],
]


@pytest.mark.parametrize(("options", "kind"), BAD_POLICIES, ids=repr)
def test_policy_must_make_sense(options, kind):
    [name] = options
    with pytest.raises(kind, match=f"^{name} must be|^ceiling must be at least"):
        ReconnectPolicy(**options)


def test_arguments_must_make_sense():
    reconnector = Reconnector()
    for call, kind in [
        (lambda: Reconnector(3), TypeError),
        (lambda: reconnector.retry_ms("3"), TypeError),
        (lambda: reconnector.retry_ms(3.0), TypeError),
        (lambda: reconnector.retry_ms(True), TypeError),
        (lambda: reconnector.retry_ms(-1), ValueError),
        (lambda: reconnector.retry_after(3, NOW), TypeError),
        (lambda: reconnector.retry_after("3", None), TypeError),
        (lambda: reconnector.retry_after("3", math.nan), ValueError),
        (lambda: reconnector.lost("reset", 0.0), TypeError),
        (lambda: reconnector.lost(ConnectionResetError(), 0.0), TypeError),
        (lambda: reconnector.lost(RESET, None), TypeError),
        (lambda: reconnector.lost(RESET, 1.1), ValueError),
        (lambda: reconnector.lost(RESET, -0.1), ValueError),
        (lambda: reconnector.lost(RESET, math.nan), ValueError),
    ]:
        with pytest.raises(kind, match=" must be "):
            call()
    assert reconnector.lost(RESET, 0.0) == Wait(1)
