"""``--proxy``, which only httpx has."""

import pytest
from support.frames import chunk, done
from support.raw_server import CHUNKED, LAST_CHUNK, serving

URL = "http://example.invalid/turns"
TURN = ["turn", URL, "-m", "Hi"]


def proxy(peer):
    peer.read_request()
    assert peer.head.startswith(b"POST http://example.invalid/turns HTTP/1.1\r\n")
    peer.send(CHUNKED, chunk(done(1)), LAST_CHUNK)


def test_the_request_goes_through_the_proxy(run_main):
    with serving(proxy) as server:
        run = run_main(*TURN, "--proxy", f"http://127.0.0.1:{server.port}")
    assert (run.said, run.code) == (["[done]"], 0)


def test_the_proxy_of_the_environment_is_used_too(run_main, monkeypatch):
    with serving(proxy) as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.port}")
        run = run_main(*TURN)
    assert (run.said, run.code) == (["[done]"], 0)


@pytest.mark.parametrize("transport", ["anyio", "trio"])
def test_the_other_transports_have_none(run_main, transport):
    run = run_main(*TURN, "--proxy", "http://127.0.0.1:9", "--transport", transport)
    assert run.said == [f"ratatoskr: --proxy needs --transport httpx; {transport} has no proxies"]
    assert run.code == 2


@pytest.mark.parametrize("value", ["", "x", "ftp://127.0.0.1", "http://u:s3cret@[::", "http://"])
def test_a_proxy_that_is_none_is_one_line(run_main, value):
    run = run_main(*TURN, "--proxy", value)
    assert run.said == ["ratatoskr: the proxy must be a URL such as http://127.0.0.1:3128"]
    assert run.code == 2


def test_a_proxy_of_the_environment_that_is_none_is_named_without_its_value(run_main, monkeypatch):
    monkeypatch.setenv("https_proxy", "http://u:s3cret@[::")
    run = run_main(*TURN)
    example = "a URL such as http://127.0.0.1:3128"
    assert run.said == [
        f"ratatoskr: a proxy in the environment must be {example}; check https_proxy"
    ]
    assert run.code == 2
