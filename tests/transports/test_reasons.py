"""The table of reasons: the words for every public exception of the libraries."""

import importlib
import socket
import ssl

import anyio
import h2.events
import h2.exceptions
import httpcore
import httpx
import httpx2
import idna
import pytest
import trio

from ratatoskr_proto import SseConnectFailed
from ratatoskr_transports._http.reasons import REASONS, failure_of, reason_of

WORDS_OF_OPENING = {
    *("status", "redirect", "content-type", "content-encoding", "dns", "refused", "unreachable"),
    *("tls", "connect timeout", "pool timeout", "read timeout", "closed", "protocol"),
}
WORDS_OF_READING = {
    *("end of stream", "cut body", "reset", "protocol", "read timeout", "event timeout", "closed"),
}


# Every public exception of the libraries, by its words before the head of a response and after it.
# A class of a later release is not in here, and counts as the first of its bases that is.
JUDGED = {
    ("closed", "closed"): """
        anyio: ClosedResourceError
        trio: ClosedResourceError
        httpx: StreamError StreamConsumed StreamClosed
    """,
    ("closed", "end of stream"): """
        anyio: EndOfStream
        trio: EndOfChannel
    """,
    ("closed", "reset"): """
        builtins: BrokenPipeError ConnectionAbortedError ConnectionError
            ConnectionResetError
        ssl: SSLSyscallError SSLEOFError SSLZeroReturnError SSLWantReadError
            SSLWantWriteError
        anyio: BrokenResourceError
        trio: BrokenResourceError
        httpcore: ConnectionNotAvailable NetworkError ReadError WriteError
        httpx: NetworkError ReadError WriteError CloseError
        h2: StreamClosedError
    """,
    ("connect timeout", "read timeout"): """
        builtins: TimeoutError
        trio: TooSlowError
        httpcore: ConnectTimeout
        httpx: ConnectTimeout
    """,
    ("dns", "reset"): """
        socket: gaierror herror
    """,
    ("dns", None): """
        builtins: UnicodeError
    """,
    ("pool timeout", "read timeout"): """
        httpcore: PoolTimeout
        httpx: PoolTimeout
    """,
    ("protocol", "protocol"): """
        h11: ProtocolError LocalProtocolError RemoteProtocolError
        httpcore: ProtocolError LocalProtocolError RemoteProtocolError
        httpx: HTTPError RequestError TransportError ProtocolError LocalProtocolError
            RemoteProtocolError DecodingError
        h2: H2Error ProtocolError FlowControlError FrameTooLargeError NoSuchStreamError
    """,
    ("read timeout", "read timeout"): """
        httpcore: TimeoutException ReadTimeout WriteTimeout
        httpx: TimeoutException ReadTimeout WriteTimeout
    """,
    ("redirect", "protocol"): """
        httpcore: UnsupportedProtocol
        httpx: UnsupportedProtocol TooManyRedirects InvalidURL
    """,
    ("redirect", None): """
        idna: IDNAError
    """,
    ("refused", "reset"): """
        builtins: ConnectionRefusedError
    """,
    ("tls", "reset"): """
        ssl: SSLError SSLCertVerificationError
    """,
    ("unreachable", "reset"): """
        builtins: OSError BlockingIOError ChildProcessError FileExistsError
            FileNotFoundError InterruptedError IsADirectoryError NotADirectoryError
            PermissionError ProcessLookupError
        anyio: ConnectionFailed
        httpcore: ProxyError ConnectError
        httpx: ConnectError ProxyError
    """,
    ("unreachable", None): """
        builtins: OverflowError
    """,
    None: """
        anyio: BusyResourceError BrokenWorkerInterpreter BrokenWorkerProcess
            DelimiterNotFound FutureAlreadyFinished FutureCancelled FutureFailed
            FutureNotFinished IncompleteRead NoEventLoopError RunFinishedError TaskCancelled
            TaskFailed TaskNotFinished TypedAttributeLookupError WouldBlock
        trio: BusyResourceError NeedHandshakeError RunFinishedError TrioInternalError
            WouldBlock
        httpx: HTTPStatusError CookieConflict SSEError ResponseNotRead RequestNotRead
    """,
}


MODULES = {
    "h2": ["h2.exceptions"],
    "httpx": ["httpx", "httpx2"],
    "httpcore": ["httpcore", "httpcore2"],
}


def class_of(library, name):
    """The class, of whichever generation has it; None in a release without it."""
    for module in MODULES.get(library, [library]):
        if (found := getattr(importlib.import_module(module), name, None)) is not None:
            return found
    return None


def judged_classes():
    for words, text in JUDGED.items():
        library = ""
        for name in text.split():
            if name.endswith(":"):
                library = name[:-1]
            elif (judged := class_of(library, name)) is not None:
                yield f"{library}.{name}", judged, words


def made(error_class):
    """An instance, made without asking its constructor."""
    return error_class.__new__(error_class)


def words_of(error_class):
    reasons = [reason_of(made(error_class), opening=opening) for opening in (True, False)]
    return tuple(reason and reason.partition(" (")[0] for reason in reasons)


CLASSES = list(judged_classes())


@pytest.mark.parametrize(("name", "judged", "words"), CLASSES, ids=[name for name, *_ in CLASSES])
def test_exception_has_its_words(name, judged, words):
    assert words_of(judged) == (words or (None, None))


@pytest.mark.parametrize("name", REASONS)
def test_every_row_of_the_table_makes_a_difference(name, monkeypatch):
    before = [words_of(judged) for _, judged, _ in CLASSES] + [words_of_argument(e) for e in OF_H2]
    monkeypatch.delitem(REASONS, name)
    after = [words_of(judged) for _, judged, _ in CLASSES] + [words_of_argument(e) for e in OF_H2]
    assert after != before


OF_H2 = [h2.events.StreamReset, h2.events.ConnectionTerminated]


def words_of_argument(event):
    """The words for an exception of httpcore that carries this event of h2."""
    error = httpcore.RemoteProtocolError(made(event))
    return tuple(reason_of(error, opening=opening) for opening in (True, False))


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
        (httpcore.RemoteProtocolError("Server disconnected"), "closed", "cut body"),
        (httpcore.RemoteProtocolError(made(h2.events.StreamReset)), "closed", "reset"),
        (httpcore.RemoteProtocolError(made(h2.events.ConnectionTerminated)), "closed", "reset"),
        (httpcore.LocalProtocolError(h2.exceptions.StreamClosedError(1)), "closed", "reset"),
        (httpcore.LocalProtocolError(h2.exceptions.ProtocolError()), "protocol", "protocol"),
        (h2.exceptions.FlowControlError(), "protocol", "protocol"),
        (httpx.ReadError("lost"), "closed", "reset"),
        (httpx2.ReadError("lost"), "closed", "reset"),
        (httpx.PoolTimeout("busy"), "pool timeout", "read timeout"),
        (httpx2.TooManyRedirects("many"), "redirect", "protocol"),
        (httpx.RemoteProtocolError("peer unexpectedly closed connection"), "closed", "cut body"),
        (httpx.RemoteProtocolError("something else"), "protocol", "protocol"),
        (trio.BrokenResourceError(), "closed", "reset"),
        (anyio.ClosedResourceError(), "closed", "closed"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
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
    assert failure_of(error) is None


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
        (ssl.SSLEOFError(), "closed"),
        (ConnectionResetError(), "closed"),
        (anyio.EndOfStream(), "closed"),
        (ExceptionGroup("all", [OSError(), ConnectionRefusedError()]), "refused"),
        (OSError(), "unreachable"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_kept_a_connection_from_being_made_is_found_in_its_causes(cause, word):
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


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_refusal_of_a_proxy_has_its_status(library):
    error = library.ProxyError("407 Proxy Authentication Required: secret")
    assert failure_of(error) == SseConnectFailed(407, "", "status")
    other = library.ProxyError("Proxy Server could not connect: Host unreachable.")
    assert failure_of(other) == SseConnectFailed(None, "", "unreachable (ProxyError)")
