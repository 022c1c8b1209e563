"""The options of ``turn`` and ``tail``: URL, headers, proxy, TLS, timeouts, over each transport."""

import io
import ssl

import pytest
from support.frames import chunk, done, text
from support.raw_server import CHUNKED, LAST_CHUNK, serving

SECRET = "s3cret"
TURN = chunk(done(1))

COMMANDS = {
    "turn-httpx": ["turn", "-m", "Hi"],
    "turn-anyio": ["turn", "-m", "Hi", "--transport", "anyio"],
    "turn-trio": ["turn", "-m", "Hi", "--transport", "trio"],
    "tail": ["tail"],
}


@pytest.fixture(params=COMMANDS.values(), ids=COMMANDS)
def run(request, run_main):
    """Runs a command on a URL."""

    def run(url, *options):
        return run_main(*request.param, url, *options)

    return run


@pytest.fixture(params=["turn-httpx", "turn-anyio"])
def refuse(request, run_main):
    """As ``run``, for what is refused before a connection is made; gives the line that says so."""

    def refuse(url, *options):
        run = run_main(*COMMANDS[request.param], url, *options)
        assert (run.stdout, len(run.said), run.code) == (b"", 1, 2)
        return run.said[0]

    return refuse


def good(peer):
    peer.read_request()
    peer.send(CHUNKED, TURN, LAST_CHUNK)


@pytest.fixture
def headers_sent(run):
    """Runs the command with options; gives the head of its request."""

    def headers_sent(*options):
        heads = []

        def handler(peer):
            peer.read_request()
            heads.append(peer.head.decode())  # before the answer, which ends the command
            peer.send(CHUNKED, TURN, LAST_CHUNK)

        with serving(handler) as server:
            assert run(server.url, *options).code == 0
        return heads[0].lower().split("\r\n")[1:]

    return headers_sent


def test_trio_that_is_not_installed_is_one_line_with_its_extra(run_main, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    run = run_main("tail", "http://127.0.0.1:9/", "--transport", "trio")
    hint = "install it with: pip install 'ratatoskr-sse[trio]'"
    assert run.said == [f"ratatoskr: --transport trio needs trio; {hint}"]
    assert run.code == 2


# Headers


def test_headers_are_sent(headers_sent):
    lines = headers_sent("-H", f"X-Key: {SECRET}", "--header", "X-Other:b:c", "-H", "X-Empty:")
    assert f"x-key: {SECRET}" in lines
    assert "x-other: b:c" in lines
    assert any(line.strip() == "x-empty:" for line in lines)


def test_headers_are_read_from_a_file(headers_sent, tmp_path):
    file = tmp_path / "headers"
    file.write_text(f"X-Key: {SECRET}\n\nX-Other: é\n", encoding="utf-8")
    lines = headers_sent("-H", f"@{file}", "-H", "X-Last: 1")
    assert f"x-key: {SECRET}" in lines
    assert "x-other: é" in lines
    assert "x-last: 1" in lines


NO_HEADERS = [
    SECRET,
    f":{SECRET}",
    f"Authorization Bearer {SECRET}:",
    f"{SECRET} x: y",
    f"X-Key: {SECRET}\0",
    f"X-Key: {SECRET}\udcff",
    f"Host: {SECRET}",
    f"Content-Length: {SECRET}",
    f"\x1b[31m: {SECRET}",
]


def names_the_header_only(line):
    assert "header" in line or "the value of x-key" in line
    assert SECRET not in line
    return line.isprintable()


@pytest.mark.parametrize("header", [*NO_HEADERS, "", f"X-Key: {SECRET}\r\nX-B: c"], ids=ascii)
def test_a_header_that_is_none_is_one_line_without_its_value(refuse, header):
    assert names_the_header_only(refuse("http://127.0.0.1:9/", "-H", header))


@pytest.mark.parametrize("header", NO_HEADERS, ids=ascii)
def test_a_header_in_a_file_that_is_none_is_one_line_without_its_value(refuse, tmp_path, header):
    file = tmp_path / "headers"
    file.write_text(header, encoding="utf-8", errors="surrogateescape")
    assert names_the_header_only(refuse("http://127.0.0.1:9/", "-H", f"@{file}"))


def test_a_line_of_a_file_that_is_no_header_is_named(refuse, tmp_path):
    file = tmp_path / "headers"
    file.write_text(f"X-Key: {SECRET}\n{SECRET}\n")
    line = refuse("http://127.0.0.1:9/", "-H", f"@{file}")
    assert line == f"ratatoskr: line 2 of '{file}': a header is written 'Name: value'"


@pytest.mark.parametrize(
    ("encoding", "reason"),
    [
        ("utf-8-sig", "it begins with a byte order mark; save it as UTF-8 without one"),
        ("utf-16", "it is UTF-16; save it as UTF-8"),
        ("latin-1", "it is not UTF-8"),
    ],
)
def test_a_file_of_headers_in_another_encoding_is_named(refuse, tmp_path, encoding, reason):
    file = tmp_path / "headers"
    file.write_text("X-Key: é", encoding=encoding)
    line = refuse("http://127.0.0.1:9/", "-H", f"@{file}")
    assert line == f"ratatoskr: cannot read the headers in '{file}': {reason}"


def test_headers_are_read_from_stdin(headers_sent, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"X-Key: s3cret\n")))
    assert "x-key: s3cret" in headers_sent("-H", "@-")


@pytest.mark.parametrize("name", ["", "missing", ".", "\0"])
def test_a_file_of_headers_that_cannot_be_read_is_one_line(refuse, tmp_path, name):
    path = f"{tmp_path}/{name}" if name else ""
    line = refuse("http://127.0.0.1:9/", "-H", f"@{path}")
    assert line.startswith(f"ratatoskr: cannot read the headers in {path!r}: ")


# URLs


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x",
        "127.0.0.1:8000/turns",
        "/turns",
        "http://",
        "http:///turns",
        "ftp://127.0.0.1/",
        "HTTPS//127.0.0.1/",
        "http://127.0.0.1:x/",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:65536/",
        "http://127.0.0.1:-1/",
        "http://[::1/",
        "http://[::1%25lo]/",
        "http://a b/",
        "http://a\\b/",
        "http://a\x1b/",
        "http://a\udcff/",
        "http://" + "a" * 300 + "/",
        "http://a..b/",
        f"http://user:{SECRET}@127.0.0.1:x/",
        f"http://user:{SECRET}@/",
    ],
    ids=lambda url: ascii(url[:30]),
)
def test_a_url_that_is_none_is_one_line_that_repeats_nothing(refuse, url):
    line = refuse(url)
    assert line.startswith("ratatoskr: the ")
    assert "base_url" not in line
    assert "URL" in line
    assert SECRET not in line


def test_a_port_where_nobody_listens_is_20(run, nobody_listens):
    result = run(nobody_listens)
    assert (len(result.said), result.code) == (1, 20)
    assert result.said[0].startswith("[connect_failed] status=None reason='refused")


def test_the_wrong_scheme_is_20(run):
    def handler(peer):
        peer.receive_some()
        peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with serving(handler) as server:
        result = run(server.url.replace("http:", "https:"))
    assert (len(result.said), result.code) == (1, 20)
    assert result.said[0].startswith("[connect_failed] status=None reason='tls")


# TLS


def test_a_certificate_of_nobody_we_know_is_20(run, tls):
    with serving(good, tls) as server:
        result = run(server.url)
    assert (len(result.said), result.code) == (1, 20)
    assert result.said[0].startswith("[connect_failed] status=None reason='tls")


def test_a_certificate_of_a_given_authority_is_trusted(run, authority, tls, tmp_path):
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(file)
    with serving(good, tls) as server:
        assert run(server.url, "--cacert", str(file)).code == 0


def test_any_certificate_is_trusted_when_told_so(run, tls):
    with serving(good, tls) as server:
        assert run(server.url, "--insecure").code == 0


@pytest.mark.parametrize("content", [None, "", "nothing"])
def test_a_file_without_certificates_is_one_line(refuse, tmp_path, content):
    file = tmp_path / "authority.pem"
    if content is not None:
        file.write_text(content)
    line = refuse("https://127.0.0.1:9/", "--cacert", str(file))
    assert line.startswith(f"ratatoskr: cannot use the certificates in '{file}': ")
    assert "None" not in line


@pytest.mark.parametrize("option", ["--cacert", "--cert"])
def test_an_empty_name_is_not_left_out(refuse, option):
    assert refuse("https://127.0.0.1:9/", option, "").endswith("in '': No such file or directory")


@pytest.mark.parametrize("content", [None, "nothing"])
def test_certificates_of_the_environment_that_cannot_be_used_are_named(
    run_main, tmp_path, monkeypatch, content
):
    file = tmp_path / "authority.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    run = run_main("turn", "https://127.0.0.1:9/", "-m", "Hi")
    assert (len(run.said), run.code) == (1, 2)
    reason = "No such file or directory" if content is None else "it holds no certificates"
    assert run.said[0] == f"ratatoskr: cannot use the certificates in SSL_CERT_FILE: {reason}"


@pytest.fixture
def client_files(authority, tmp_path):
    """A certificate with its key, each alone, and both in one file."""
    issued = authority.issue_cert("client")
    cert, key, both = (tmp_path / name for name in ("cert.pem", "key.pem", "both.pem"))
    issued.cert_chain_pems[0].write_to_path(cert)
    issued.private_key_pem.write_to_path(key)
    issued.private_key_and_cert_chain_pem.write_to_path(both)
    return str(cert), str(key), str(both)


def test_a_certificate_is_shown_to_a_server_that_wants_one(run_main, authority, client_files):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    cert, key, both = client_files
    for options in (["--cert", cert, "--key", key], ["--cert", both]):
        with serving(good, context) as server:
            assert run_main("tail", server.url, "--insecure", *options).code == 0


def test_a_certificate_that_cannot_be_used_is_one_line(refuse, client_files, tmp_path):
    cert, key, _ = client_files
    missing = str(tmp_path / "missing")
    for options in (["--cert", cert], ["--cert", key, "--key", cert]):
        line = refuse("https://127.0.0.1:9/", *options)
        wrong = "no certificate with its key, unencrypted"
        assert line == f"ratatoskr: cannot use the certificate in '{options[1]}': {wrong}"
    line = refuse("https://127.0.0.1:9/", "--cert", missing)
    assert line.endswith(f"{missing}': No such file or directory")
    assert "--key needs --cert" in refuse("https://127.0.0.1:9/", "--key", key)


# Timeouts

SILENCE = "0.5"  # seconds; on a busy machine an answer may well be a fifth of one in coming


def test_silence_in_mid_stream_is_21(run):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(text(1, "Hi")))
        peer.wait_for_the_end()

    with serving(handler) as server:
        result = run(server.url, "--read-timeout", SILENCE)
    assert (len(result.said), result.code) == (1, 21)
    assert "reason='read timeout" in result.said[0]


def test_an_event_timeout_ends_a_silence_too(run):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(b": keep-alive\n\n"))
        peer.wait_for_the_end()

    with serving(handler) as server:
        result = run(server.url, "--event-timeout", SILENCE)
    assert (len(result.said), result.code) == (1, 21)
    assert "timeout" in result.said[0]


def test_silence_before_the_answer_is_20(run):
    def handler(peer):
        peer.read_request()
        peer.wait_for_the_end()

    with serving(handler) as server:
        result = run(server.url, "--read-timeout", SILENCE)
    assert (len(result.said), result.code) == (1, 20)
    assert result.said[0].startswith("[connect_failed] status=None reason='read timeout")


TIMEOUTS = ["--connect-timeout", "--read-timeout", "--event-timeout"]


@pytest.mark.parametrize("option", TIMEOUTS)
@pytest.mark.parametrize("value", ["0", "-1", "x", "nan", ""])
def test_a_timeout_that_is_none_is_wrong_usage(run_main, option, value):
    run = run_main("tail", "http://127.0.0.1:9/", f"{option}={value}")
    assert (len(run.said), run.code) == (1, 2)
    assert option in run.said[0]


@pytest.mark.parametrize("value", ["inf", "1e300", "1e12"])
def test_a_timeout_may_be_for_ever(run, value):
    with serving(good) as server:
        assert run(server.url, *[f"{option}={value}" for option in TIMEOUTS]).code == 0
