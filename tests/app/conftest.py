"""Running the command: in this process, or as one of its own where pipes, signals and terminals
matter."""

import contextlib
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
from typing import NamedTuple

import pytest
import trustme
from support.fault_servers import nobody_listening

from ratatoskr.cli import main

TIMEOUT = 50
# Settings that would change the streams of a process, or lead it away from loopback.
UNWANTED = {"PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONUTF8"}
PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name.upper() not in UNWANTED | PROXIES
}
COMMAND = [sys.executable, "-W", "error", "-m", "ratatoskr"]


class Run(NamedTuple):
    code: int
    stdout: bytes
    stderr: bytes

    @property
    def lines(self):
        """The objects on stdout."""
        return [json.loads(line) for line in self.stdout.splitlines()]

    @property
    def said(self):
        """The lines on stderr."""
        return self.stderr.decode().splitlines()


@pytest.fixture(scope="session")
def one_authority(tmp_path_factory):
    """A file with one certificate to trust. To read all that are usual takes long."""
    file = tmp_path_factory.mktemp("authority") / "one.pem"
    trustme.CA().cert_pem.write_to_path(file)
    return str(file)


@pytest.fixture(scope="session")
def authority():
    """An authority that nothing trusts unless a test says so."""
    return trustme.CA()


@pytest.fixture(scope="session")
def tls(authority):
    """What a server on loopback speaks TLS with; its certificate is of that authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, one_authority):
    """Takes the settings of a proxy away from what runs in this process and in others."""
    for name in list(os.environ):
        if name.upper() in PROXIES:
            monkeypatch.delenv(name)
    monkeypatch.setenv("SSL_CERT_FILE", one_authority)
    monkeypatch.setitem(ENVIRONMENT, "SSL_CERT_FILE", one_authority)


@pytest.fixture
def run_main(capsysbinary):
    """Runs the command in this process."""

    def run(*arguments):
        code = main(arguments)
        return Run(code, *capsysbinary.readouterr())

    return run


@pytest.fixture
def decode(run_main, tmp_path):
    """Runs ``ratatoskr decode`` in this process on a file that holds the given bytes."""

    def run(stream, *options):
        file = tmp_path / "stream"
        file.write_bytes(stream)
        return run_main("decode", *options, str(file))

    return run


@pytest.fixture
def start():
    """Starts the command as a process, by default with pipes. It ends with the test, or when it
    takes too long.
    """
    with contextlib.ExitStack() as stack:

        def start(*arguments, env=None, command=COMMAND, **streams):
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            process = stack.enter_context(
                subprocess.Popen(
                    [*command, *arguments], env=ENVIRONMENT | (env or {}), **pipes | streams
                )
            )
            stack.callback(process.kill)
            watchdog = threading.Timer(TIMEOUT, process.kill)
            watchdog.start()
            stack.callback(watchdog.cancel)
            return process

        yield start


@pytest.fixture
def run_process(start):
    """Runs the command as a process to its end."""

    def run(*arguments, stdin=b"", **how):
        process = start(*arguments, **how)
        stdout, stderr = process.communicate(stdin)
        return Run(process.returncode, stdout or b"", stderr or b"")

    return run


@pytest.fixture
def heed_ctrl_c():
    """Lets this process and those that it starts notice the signals that end a command, also where
    the tests run in the background or under nohup.
    """
    usual = {signal.SIGTERM: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}
    if hasattr(signal, "SIGHUP"):
        usual[signal.SIGHUP] = signal.SIG_DFL
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def gone():
    """The end of a pipe to write to, whose reader has gone away."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.fixture
def nobody_listens():
    """A URL at which nobody listens."""
    with nobody_listening() as url:
        yield url


@pytest.fixture
def without_module():
    """Gives the command as it runs where a module is not installed."""

    def command(name):
        script = f"""
import sys

class NotInstalled:
    def find_spec(name, path=None, target=None):
        if name == {name!r}:
            raise ModuleNotFoundError("not installed", name=name)

sys.meta_path.insert(0, NotInstalled)
from ratatoskr.__main__ import main
sys.exit(main())
"""
        return [sys.executable, "-W", "error", "-c", script]

    return command
