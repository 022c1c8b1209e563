"""What ``ratatoskr tail`` asks a server for: method, body, and where to resume."""

import io

import pytest
from support.raw_server import CHUNKED, LAST_CHUNK, serving


@pytest.fixture
def request_of(run_main):
    """Runs ``ratatoskr tail`` with options; gives the head and the body of its request."""

    def request_of(*options):
        requests = []

        def handler(peer):
            body = peer.read_request()
            requests.append((peer.head.decode(), body))
            peer.send(CHUNKED, LAST_CHUNK)

        with serving(handler) as server:
            run = run_main("tail", server.url, *options)
        assert (run.said, run.code) == ([], 0)
        return requests[0]

    return request_of


def content_type(head):
    lines = [line for line in head.lower().split("\r\n") if line.startswith("content-type:")]
    return [line.partition(": ")[2] for line in lines]


@pytest.mark.parametrize("transport", ["httpx", "anyio", "trio"])
def test_data_is_posted_as_json(request_of, transport):
    head, body = request_of("-d", '{"a": "é"}', "--transport", transport)
    assert head.startswith("POST ")
    assert content_type(head) == ["application/json"]
    assert body == '{"a": "é"}'.encode()


def test_data_is_read_from_a_file_or_stdin(request_of, tmp_path, monkeypatch):
    file = tmp_path / "data"
    file.write_bytes(b"[1]\n")
    assert request_of("--data", f"@{file}")[1] == b"[1]\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"[2]")))
    assert request_of("-d", "@-")[1] == b"[2]"


def test_data_of_another_type_is_sent_as_it_is(request_of):
    head, body = request_of("-d", "a=b", "-H", "content-type: text/x-own")
    assert (content_type(head), body) == (["text/x-own"], b"a=b")


def test_the_method_is_the_one_that_is_given(request_of):
    head, body = request_of("-X", "PUT", "-d", "{}")
    assert (head.split()[0], body) == ("PUT", b"{}")
    assert request_of("--method", "POST")[0].startswith("POST ")


@pytest.mark.parametrize("method", ["", " ", "G T", "HEAD", "\u00dc"])
def test_a_method_that_is_none_is_one_line(run_main, method):
    run = run_main("tail", "http://127.0.0.1:9/", "-X", method)
    assert (len(run.said), run.code) == (1, 2)
    assert run.said[0].startswith("ratatoskr: the method must be one word, such as POST")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("", "the data must be JSON: Expecting value at line 1, column 1"),
        ("{", "the data must be JSON: Expecting property name enclosed in double quotes at"),
        ("NaN", "the data must be JSON: NaN is not JSON"),
        ("[" * 200_000, "the data must be JSON: it is nested too deep"),
        ("\udcff", "the data must be JSON: it is not UTF-8"),
        ("@", "cannot read the data in '': No such file or directory"),
        ("@missing", "cannot read the data in 'missing': No such file or directory"),
        ("@\0", "cannot read the data in '\\x00': it is not a path"),
        ("@-", "cannot read the data from stdin: it is closed"),
    ],
    ids=lambda value: ascii(value[:10]),
)
def test_data_that_cannot_be_sent_is_one_line(run_main, monkeypatch, data, said):
    monkeypatch.setattr("sys.stdin", None)
    run = run_main("tail", "http://127.0.0.1:9/", "-d", data)
    assert (run.stdout, len(run.said), run.code) == (b"", 1, 2)
    assert run.said[0].startswith(f"ratatoskr: {said}")


def test_a_post_is_not_sent_again(run_main):
    run = run_main("tail", "http://127.0.0.1:9/", "-d", "{}", "--reconnect")
    assert (len(run.said), run.code) == (1, 2)
    assert "--resume-url" in run.said[0]


def test_a_url_to_resume_at_is_for_reconnecting(run_main):
    run = run_main("tail", "http://127.0.0.1:9/", "--resume-url", "http://127.0.0.1:9/")
    assert (run.said, run.code) == (["ratatoskr: --resume-url needs --reconnect"], 2)


@pytest.mark.parametrize("url", ["", "x", "/turns", "ftp://127.0.0.1/"])
def test_a_url_to_resume_at_that_is_none_is_one_line(run_main, url):
    run = run_main("tail", "http://127.0.0.1:9/", "--reconnect", "--resume-url", url)
    assert run.said == ["ratatoskr: the URL to resume at must start with http:// or https://"]
    assert run.code == 2
