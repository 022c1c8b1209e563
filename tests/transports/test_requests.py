"""URLs, methods and headers of requests, seen through SseExchange."""

import base64

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.exchanging import sent_by

from ratatoskr_transports import SseExchange

SECRET = "s3cr3t-t0ken"


def head_of(method, url, **options):
    """The request line, and the headers as pairs with names in lower case."""
    head, _, _ = sent_by(method, url, **options).partition(b"\r\n\r\n")
    line, *headers = head.split(b"\r\n")
    pairs = [header.split(b": ", 1) for header in headers]
    return line, [(name.lower(), value) for name, value in pairs]


def headers_of(url="http://example.test/", **options):
    """The headers of a GET, of which none may come twice."""
    _, pairs = head_of("GET", url, **options)
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def refused(error, *args, **options):
    """The message with which an exchange is refused."""
    with pytest.raises(error) as caught:
        SseExchange(*args, **options)
    assert type(caught.value) is error
    return str(caught.value)


# URLs: where to connect.


@pytest.mark.parametrize(
    ("url", "host", "port", "tls", "host_header"),
    [
        ("http://example.test", "example.test", 80, False, "example.test"),
        ("HTTPS://Example.TEST/", "example.test", 443, True, "example.test"),
        ("https://example.test:443/", "example.test", 443, True, "example.test"),
        ("http://example.test:443/", "example.test", 443, False, "example.test:443"),
        ("http://example.test:/", "example.test", 80, False, "example.test"),
        ("http://example.test:00081/", "example.test", 81, False, "example.test:81"),
        ("http://example.test:65535/", "example.test", 65535, False, "example.test:65535"),
        ("http://example.test./", "example.test.", 80, False, "example.test."),
        ("http://under_score/", "under_score", 80, False, "under_score"),
        ("http://127.0.0.1:8000/", "127.0.0.1", 8000, False, "127.0.0.1:8000"),
        ("http://[::1]/", "::1", 80, False, "[::1]"),
        ("https://[2001:DB8:0::1]:8443/", "2001:db8::1", 8443, True, "[2001:db8::1]:8443"),
        ("http://bücher.example/", "xn--bcher-kva.example", 80, False, "xn--bcher-kva.example"),
        ("http://BÜCHER.example/", "xn--bcher-kva.example", 80, False, "xn--bcher-kva.example"),
        ("http://例え。テスト/", "xn--r8jz45g.xn--zckzah", 80, False, "xn--r8jz45g.xn--zckzah"),
    ],
)
def test_url_says_where_to_connect(url, host, port, tls, host_header):
    exchange = SseExchange("GET", url)
    assert (exchange.host, exchange.port, exchange.tls) == (host, port, tls)
    assert headers_of(url)[b"host"] == host_header.encode()


@pytest.mark.parametrize(
    "authority",
    [
        *["", ":80", "@", "user@", "a:b@:80", "."],
        *["exa mple", "a..b", ".a", "a%20b", "ex%61mple.test", "a,b", "a<b", "a|b", "*"],
        *["a" * 64, "a." * 127 + "b", "ü" * 99, "\ud800", "ü..a", "a/b".replace("/", "\uff0f")],
        *["::1", "[::1", "::1]", "[]", "[::g]", "[1.2.3.4]", "[example.test]", "[v1.a]"],
        *["[::1]a", "a[::1]", "[::1][::1]", "[[::1]]", "[fe80::1%eth0]", "[fe80::1%é]"],
        *["a:0", "a:65536", "a:-1", "a:+80", "a:8_0", "a:80a", "a:x", "a:80:80", "a:" + "1" * 5000],
        *["a:\u0668\u0660", "a:\uff18\uff10", "a:8\u00b2", "a:" + "0" * 5000],
    ],
)
def test_bad_host_or_port_is_refused(authority):
    refused(ValueError, "GET", f"http://{authority}/")


@pytest.mark.parametrize(
    "url",
    ["", "/turns", "example.test", "//example.test/", "ftp://a/", "ws://a/", "http:/a", "http:a/b"],
)
def test_url_must_be_absolute_and_http(url):
    refused(ValueError, "GET", url)


@pytest.mark.parametrize("character", [*map(chr, range(0x21)), "\x7f", "\x80", "\x9f", "\\"])
@pytest.mark.parametrize("url", ["{}http://a/", "ht{}tp://a/", "http://a{}b/", "http://a/b{}"])
def test_url_with_control_space_or_backslash_is_refused(url, character):
    message = refused(ValueError, "GET", url.format(character))
    assert message == "the URL must not contain a control character, a space or a backslash"


@pytest.mark.parametrize("url", [None, 1, b"http://a/", ["http://a/"]])
def test_url_that_is_no_str_is_a_type_error(url):
    assert refused(TypeError, "GET", url) == f"the URL must be a str, not {type(url).__name__}"


@pytest.mark.parametrize(
    ("rest", "target"),
    [
        *[("", "/"), ("/", "/"), ("?a=b", "/?a=b"), ("#top", "/"), ("/a#b?c", "/a")],
        *[("/a/b?c=d&e=%20f", "/a/b?c=d&e=%20f"), ("/a%2Fb%C3%BC", "/a%2Fb%C3%BC"), ("//a", "//a")],
        *[("/ü?ö=€", "/%C3%BC?%C3%B6=%E2%82%AC"), ('/"<>^`{}', "/%22%3C%3E%5E%60%7B%7D")],
        *[("/a;b,c@d:e!$&'()*+=~|[]", "/a;b,c@d:e!$&'()*+=~|[]"), ("/\u00a0", "/%C2%A0")],
    ],
)
def test_target_is_path_and_query_in_ascii(rest, target):
    line, _ = head_of("GET", f"http://example.test{rest}")
    assert line == f"GET {target} HTTP/1.1".encode()


def test_lone_surrogate_in_a_path_is_refused():
    refused(ValueError, "GET", "http://a/\ud800")


# Credentials in a URL.


@pytest.mark.parametrize(
    ("userinfo", "pair"),
    [
        ("me:pass", b"me:pass"),
        ("me", b"me:"),
        (":pass", b":pass"),
        ("me:a:b", b"me:a:b"),
        ("m%40e:p%2Fa%20ss", b"m@e:p/a ss"),
        ("mé:%ff", b"m\xc3\xa9:\xff"),
        ("me@home:p@ss", b"me@home:p@ss"),
        ("", b":"),
    ],
)
def test_userinfo_becomes_an_authorization_header(userinfo, pair):
    headers = headers_of(f"http://{userinfo}@example.test/")
    assert headers[b"authorization"] == b"Basic " + base64.b64encode(pair)
    assert headers[b"host"] == b"example.test"


def test_given_authorization_header_wins_over_userinfo():
    headers = headers_of("http://me:pass@a/", headers={"Authorization": "Bearer x"})
    assert headers[b"authorization"] == b"Bearer x"


def test_userinfo_is_sent_as_that_header_and_is_nowhere_else():
    url = f"http://me:{SECRET}@example.test/a"
    assert SECRET.encode() not in sent_by("GET", url)
    exchange = SseExchange("GET", url)
    assert SECRET not in repr(exchange)
    exchange.receive_data(b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
    exchange = SseExchange("GET", url)
    [error] = exchange.receive_data(
        b"HTTP/1.1 302 Found\r\nLocation: b\r\nContent-Length: 0\r\n\r\n"
    )
    assert error.reason == "redirect to http://example.test/b"


# Methods.


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "get", "X-READ"])
def test_method_goes_out_as_it_is(method):
    line, _ = head_of(method, "http://a/")
    assert line == f"{method} / HTTP/1.1".encode()


@pytest.mark.parametrize("method", ["", "G T", "GET\r\nX: y", "GÉT", "\ud800", "HEAD", "Connect"])
def test_bad_method_is_refused(method):
    refused(ValueError, method, "http://a/")


@pytest.mark.parametrize("method", [None, b"GET"])
def test_method_that_is_no_str_is_a_type_error(method):
    refused(TypeError, method, "http://a/")


# Headers.


def test_own_headers_ask_for_an_event_stream_on_a_connection_of_its_own():
    assert headers_of() == {
        b"host": b"example.test",
        b"connection": b"close",
        b"accept": b"text/event-stream",
        b"accept-encoding": b"identity",
        b"cache-control": b"no-cache",
    }


def test_given_header_replaces_ours_in_any_case():
    headers = headers_of(headers={"ACCEPT": "text/plain", b"cache-CONTROL": b"max-age=0"})
    assert headers[b"accept"] == b"text/plain"
    assert headers[b"cache-control"] == b"max-age=0"


def test_header_given_twice_goes_out_twice_in_order():
    _, pairs = head_of("GET", "http://a/", headers=[("X-A", "1"), ("x-a", "2")])
    assert [value for name, value in pairs if name == b"x-a"] == [b"1", b"2"]


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        *[("", b""), ("a b\tc", b"a b\tc"), ("  a \t", b"a"), ("Grüße 🌍", "Grüße 🌍".encode())],
        *[(b"\xff\x80", b"\xff\x80"), ("\x80", b"\xc2\x80"), ("~!,;:", b"~!,;:")],
    ],
)
def test_header_value_goes_out_in_utf_8(value, sent):
    assert headers_of(headers={"X-Value": value})[b"x-value"] == sent


@pytest.mark.parametrize(
    "name",
    [
        *["Host", "content-length", "Transfer-Encoding", "CONNECTION", "upgrade", "TE", "Expect"],
        *[b"hOsT", b"Content-Length"],
    ],
)
def test_header_that_frames_the_message_is_refused(name):
    text = name.decode() if isinstance(name, bytes) else name
    message = refused(ValueError, "GET", "http://a/", headers={name: SECRET})
    assert message == f"the header {text.lower()} cannot be given: it frames the message"


@pytest.mark.parametrize("control", ["\r", "\n", "\0", "\r\nX: y", "\x01", "\x0b", "\x1f", "\x7f"])
@pytest.mark.parametrize("place", ["{}a", "a{}b", "a{}"])
def test_control_in_a_value_is_refused_by_the_name_of_the_header(control, place):
    value = SECRET + place.format(control)
    for each in (value, value.encode()):
        message = refused(ValueError, "GET", "http://a/", headers={"X-Key": each})
        assert message == "the value of x-key must not contain CR, LF, NUL or other controls"


def test_lone_surrogate_in_a_value_is_refused_by_the_name_of_the_header():
    message = refused(ValueError, "GET", "http://a/", headers={"X-Key": SECRET + "\ud800"})
    assert message == "the value of x-key must not contain a lone surrogate"


@pytest.mark.parametrize("name", ["", " X", "X ", "X:", "X\r\nY", "X\0", "Ü", "\ud800", b"X\xff"])
def test_bad_name_of_a_header_is_refused_without_repeating_it(name):
    message = refused(ValueError, "GET", "http://a/", headers=[(name, SECRET)])
    assert message == "the name of a header must be one word, such as X-Request-Id"


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"X-Key": 1}, "the value of x-key must be a str or bytes, not int"),
        ({"X-Key": None}, "the value of x-key must be a str or bytes, not NoneType"),
        ({1: SECRET}, "the name of a header must be a str or bytes, not int"),
        (1, "headers must be a mapping, or pairs of a name and a value"),
        (SECRET, "headers must be a mapping, or pairs of a name and a value"),
        ([(SECRET, SECRET, SECRET)], "headers must be a mapping, or pairs of a name and a value"),
    ],
)
def test_headers_of_another_kind_are_a_type_error(headers, message):
    assert refused(TypeError, "GET", "http://a/", headers=headers) == message


@pytest.mark.no_cover  # what is traced here is Hypothesis
@given(
    st.text(max_size=8) | st.binary(max_size=8),
    st.text(max_size=8) | st.binary(max_size=8),
)
def test_any_header_is_either_refused_or_sent_as_one_line(name, value):
    try:
        exchange = SseExchange("GET", "http://a/", headers=[(name, value)])
    except ValueError:
        return
    server = h11.Connection(h11.SERVER)
    server.receive_data(exchange.bytes_to_send())
    request = server.next_event()
    raw_name = name.encode() if isinstance(name, str) else name
    raw_value = value.encode() if isinstance(value, str) else value
    assert (raw_name.lower(), raw_value.strip(b" \t")) in request.headers
    assert len(request.headers) <= 6


@given(st.text(alphabet="htp:/@[]%#?&.\u00fc\u3002\uff0f\ud800\\ \n0a", max_size=20))
def test_any_url_is_either_refused_or_asked_for_in_one_line(text):
    try:
        exchange = SseExchange("GET", "http://" + text)
    except ValueError:
        return
    server = h11.Connection(h11.SERVER)
    server.receive_data(exchange.bytes_to_send())
    request = server.next_event()
    assert request.target.startswith(b"/")
    [host] = [value.decode() for name, value in request.headers if name == b"host"]
    assert exchange.host in host
