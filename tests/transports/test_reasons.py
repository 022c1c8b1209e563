"""The table of reasons: no exception of a library is forgotten, and each has a word for it."""

import builtins
import socket
import ssl

import anyio
import h11
import httpcore
import httpcore2
import httpx
import httpx2
import idna
import pytest
import trio

from ratatoskr_transports._http.reasons import REASONS, reason_of

LIBRARIES = [httpx, httpx2, httpcore, httpcore2, anyio, trio, h11, ssl, socket]

WORDS_OF_OPENING = {
    *("status", "redirect", "content-type", "content-encoding", "dns", "refused", "unreachable"),
    *("tls", "connect timeout", "pool timeout", "read timeout", "closed", "protocol"),
}
WORDS_OF_READING = {
    *("end of stream", "cut body", "reset", "protocol", "read timeout", "event timeout", "closed"),
}


def exceptions_of(module):
    """The public exceptions of a module; what is no Exception, a cancellation, goes through."""
    for name in dir(module):  # and not vars(): anyio loads its names when they are asked for
        value = None if name.startswith("_") else getattr(module, name)
        if not isinstance(value, type):
            continue
        if issubclass(value, Exception) and not issubclass(value, Warning):
            yield value


def every_exception():
    for library in LIBRARIES:
        yield from exceptions_of(library)
    yield from (each for each in exceptions_of(builtins) if issubclass(each, OSError))
    yield from (OverflowError, UnicodeError, idna.IDNAError)


def name_of(exception):
    return f"{exception.__module__.split('.')[0].removesuffix('2')}.{exception.__name__}"


@pytest.mark.parametrize("exception", sorted(set(every_exception()), key=str), ids=name_of)
def test_table_names_the_exception(exception):
    assert name_of(exception) in REASONS


def test_table_names_nothing_that_does_not_exist():
    assert set(REASONS) - {name_of(exception) for exception in every_exception()} == set()


@pytest.mark.parametrize("name", REASONS)
def test_reasons_are_words_of_the_contract(name):
    reason = REASONS[name]
    if reason is not None:
        assert reason.opening in WORDS_OF_OPENING
        assert reason.reading is None or reason.reading in WORDS_OF_READING


@pytest.mark.parametrize(
    ("error", "opening", "reading"),
    [
        (ConnectionResetError(), "closed", "reset"),
        (BrokenPipeError(), "closed", "reset"),
        (ConnectionRefusedError(), "refused", "reset"),
        (PermissionError(), "unreachable", "reset"),
        (TimeoutError(), "connect timeout", "read timeout"),
        (socket.gaierror(), "dns", "reset"),
        (ssl.SSLError(), "tls", "reset"),
        (ssl.SSLCertVerificationError(), "tls", "reset"),
        (ssl.SSLEOFError(), "closed", "reset"),
        (httpx.ReadError("lost"), "closed", "reset"),
        (httpx2.ReadError("lost"), "closed", "reset"),
        (httpx.PoolTimeout("busy"), "pool timeout", "read timeout"),
        (httpx2.TooManyRedirects("many"), "redirect", "protocol"),
        (httpx.RemoteProtocolError("peer unexpectedly closed connection"), "closed", "cut body"),
        (httpx.RemoteProtocolError("something else"), "protocol", "protocol"),
        (trio.BrokenResourceError(), "closed", "reset"),
        (anyio.ClosedResourceError(), "closed", "closed"),
    ],
    ids=lambda value: value if isinstance(value, str) else name_of(type(value)),
)
def test_reason_depends_on_whether_the_head_had_come(error, opening, reading):
    shown = f" ({type(error).__name__})"
    assert reason_of(error, opening=True) == opening + shown
    assert reason_of(error) == reading + shown


def test_class_that_is_not_named_counts_as_its_base():
    class Worse(ConnectionResetError):
        pass

    assert reason_of(Worse()) == "reset (Worse)"


@pytest.mark.parametrize(
    "error",
    [
        ValueError(),
        KeyError(),
        anyio.WouldBlock(),
        httpx.ResponseNotRead(),
        ExceptionGroup("", [TypeError()]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_cannot_come_from_a_connection_has_no_reason(error):
    assert reason_of(error) is None
    assert reason_of(error, opening=True) is None
    assert reason_of(error, connecting=True) is None


@pytest.mark.parametrize("error", [UnicodeError(), OverflowError(), idna.IDNAError()], ids=repr)
def test_bad_host_is_a_fault_of_opening_only(error):
    assert reason_of(error, opening=True) is not None
    assert reason_of(error) is None


def test_error_in_a_group_counts_as_it_would_alone():
    group = ExceptionGroup("lost", [ExceptionGroup("both", [OverflowError(), KeyError()])])
    assert reason_of(group, opening=True) == "unreachable (OverflowError)"


def caused_by(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "word"),
    [
        (socket.gaierror(), "dns"),
        (ConnectionRefusedError(), "refused"),
        (ssl.SSLCertVerificationError(), "tls"),
        (ssl.SSLEOFError(), "tls"),
        (ExceptionGroup("all", [OSError(), ConnectionRefusedError()]), "refused"),
        (OSError(), "unreachable"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_kept_a_connection_from_coming_about_is_found_behind_it(cause, word):
    error = caused_by(httpx.ConnectError("no"), OSError())
    error.__cause__.__context__ = cause
    assert reason_of(error, opening=True) == f"{word} (ConnectError)"


def test_causes_that_go_in_a_circle_are_looked_at_once():
    error = httpx.ConnectError("no")
    error.__cause__ = caused_by(OSError(), error)
    assert reason_of(error, opening=True) == "unreachable (ConnectError)"


def test_text_of_the_exception_is_not_in_the_reason():
    assert "secret" not in str(reason_of(ConnectionResetError("secret")))
    assert reason_of(anyio.EndOfStream("secret")) == "end of stream"
