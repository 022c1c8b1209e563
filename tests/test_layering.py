"""Imports go one way, and what a module says it exports is there."""

import ast
import functools
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import ratatoskr_proto
import ratatoskr_transports

ROOT = Path(__file__).parent.parent
LAYERS = ["ratatoskr_proto", "ratatoskr_transports", "ratatoskr"]
SOURCES = [path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))]


@functools.cache
def imports_of(path):
    """The nodes of a file's imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]


def imported_modules(path):
    """The absolute names of the modules that a file imports."""
    for node in imports_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module


def test_sources_are_found():
    assert {path.relative_to(ROOT).parts[0] for path in SOURCES} == set(LAYERS)


def test_imports_go_one_way():
    for path in SOURCES:
        layer = LAYERS.index(path.relative_to(ROOT).parts[0])
        tops = {name.split(".")[0] for name in imported_modules(path)}
        assert not tops & set(LAYERS[layer + 1 :]), path


def private_imports(path, package):
    """The private modules and names of other packages of ours that a file imports."""
    for node in imports_of(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            top, *rest = name.split(".")
            if top in LAYERS and top != package and any(part[0] == "_" for part in rest):
                yield name


@pytest.mark.parametrize("folder", [*LAYERS, "examples", "benchmarks"])
def test_private_names_stay_inside_their_package(folder):
    found = {
        str(path.relative_to(ROOT)): names
        for path in (ROOT / folder).rglob("*.py")
        if (names := list(private_imports(path, folder)))
    }
    assert found == {}


def test_the_core_needs_the_standard_library_only():
    for path in SOURCES:
        if path.is_relative_to(ROOT / "ratatoskr_proto"):
            tops = {name.split(".")[0] for name in imported_modules(path)}
            # The exception: strategies, which are imported only when one of them is asked for.
            if path.parent.name == "testing" and path.stem in ("_strategies", "_answers"):
                assert "hypothesis" in tops
                tops.remove("hypothesis")
            assert tops <= sys.stdlib_module_names | {"ratatoskr_proto"}


def test_the_core_does_not_import_its_testing_kit():
    for path in SOURCES:
        if path.is_relative_to(ROOT / "ratatoskr_proto") and path.parent.name != "testing":
            nodes = [node for node in imports_of(path) if isinstance(node, ast.ImportFrom)]
            assert not [node for node in nodes if "testing" in (node.module or "")]


def test_importing_the_core_loads_no_io():
    unwanted = ["asyncio", "socket", "ssl", "selectors", "logging", "threading", "random"]
    unwanted += ["httpx", "httpx2", "h11", "anyio", "trio", "hypothesis"]
    code = (
        "import sys; before = set(sys.modules); import ratatoskr_proto; "
        f"print(*sorted((set(sys.modules) - before) & set({unwanted})))"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == []


def modules_loaded_by(code):
    """The libraries that are loaded, in a fresh interpreter, once this code has run."""
    libraries = ["httpx", "httpx2", "httpcore", "httpcore2", "h11", "anyio", "trio"]
    code += f"; import sys; print(*sorted(set(sys.modules) & set({libraries})))"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return run.stdout.split()


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("import ratatoskr_transports", []),
        ("from ratatoskr_transports import TurnStream, SyncEventStream", []),
        ("from ratatoskr_transports import SseExchange", ["h11"]),
        ("import ratatoskr_transports.testing", []),
        ("import ratatoskr_proto.testing", []),
        ("import ratatoskr_transports.httpx", ["anyio"]),
        ("import ratatoskr_transports.anyio", ["anyio", "h11"]),
        ("import ratatoskr_transports.trio", ["h11", "trio"]),
    ],
)
def test_transports_load_what_they_need_and_no_more(code, loaded):
    assert modules_loaded_by(code) == loaded


def test_transports_export_the_names_of_the_guide():
    assert set(ratatoskr_transports.__all__) == {
        *["TurnStream", "SyncTurnStream", "EventStream", "SyncEventStream"],
        *["Source", "SourceLost", "SyncSource", "SseExchange", "Decoder", "error_label"],
    }


FUNCTIONS = {"stream_turn", "reconnect_turn", "stream_events", "wrap", "wrap_events"}


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("anyio", FUNCTIONS),
        ("trio", FUNCTIONS),
        ("httpx", FUNCTIONS | {f"{name}_sync" for name in FUNCTIONS}),
        (
            "testing",
            {
                *["Pause", "ScriptedSource", "SyncScriptedSource"],
                *["check_transport", "check_transport_sync"],
            },
        ),
    ],
)
def test_modules_of_the_transports_export_the_names_of_the_guide(name, names):
    module = importlib.import_module(f"ratatoskr_transports.{name}")
    assert set(module.__all__) == names
    assert all(hasattr(module, each) for each in names)


@pytest.mark.parametrize("name", LAYERS)
def test_exported_names_are_there_and_sorted(name):
    module = importlib.import_module(name)
    names = getattr(module, "__all__", [])
    assert all(hasattr(module, each) for each in names)
    assert len(set(names)) == len(names)


def test_the_core_exports_every_public_class_and_function_that_it_imports():
    public = {name for name in vars(ratatoskr_proto) if not name.startswith("_")}
    # A module that somebody has imported is an attribute of its package.
    assert public - {"testing", "dialects"} == set(ratatoskr_proto.__all__)


def test_the_core_exports_the_names_of_the_guide():
    assert set(ratatoskr_proto.__all__) == {
        *["EventStreamDecoder", "ServerSentEvent", "Comment", "WireItem"],
        *["TurnItem", "DEFAULT_MAX_EVENT_BYTES"],
        *["TurnDecoder", "TurnState", "SseId", "DEFAULT_EVENT_TYPES", "EventTypes"],
        *["Event", "Text", "Done", "Reasoning", "ServerError", "Unknown"],
        *["RatatoskrError", "ProtocolError", "MalformedSseData", "MalformedSseId"],
        *["MalformedEnvelope", "TurnIdFlip", "EventTooLarge"],
        *["SseConnectionDropped", "SseConnectFailed", "Reason"],
        *["encode", "encode_event", "encode_comment"],
        *["Reconnector", "ReconnectPolicy", "Wait", "GiveUp", "is_retryable"],
    }
