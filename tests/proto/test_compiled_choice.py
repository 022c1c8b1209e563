"""Which wire layer is built, and which of the two is taken."""

import ast
import os
import pickle
import runpy
import subprocess
import sys
import sysconfig
import types
from pathlib import Path

import pytest

import ratatoskr_proto
from ratatoskr_proto import _wire
from ratatoskr_proto._decoder import choose


@pytest.fixture
def compiled(monkeypatch):
    """Put something where the version in C would be, which need not have been built."""
    module = types.ModuleType("ratatoskr_proto._compiled")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(ratatoskr_proto, "_compiled", module, raising=False)
    return module


def test_the_python_version_can_be_chosen(compiled):
    assert choose({}) is compiled
    assert choose({"RATATOSKR_PURE": "0"}) is compiled
    assert choose({"RATATOSKR_PURE": "yes"}) is compiled
    assert choose({"RATATOSKR_PURE": "1"}) is _wire


def test_without_the_c_version_it_is_the_python_one(compiled, monkeypatch):
    monkeypatch.setitem(sys.modules, compiled.__name__, None)
    monkeypatch.delattr(ratatoskr_proto, "_compiled")
    assert choose({}) is _wire


@pytest.mark.parametrize("pure", ["0", "1"])
def test_the_class_can_be_pickled_for_a_process_with_either_version(pure):
    code = "import pickle, ratatoskr_proto as p; print(pickle.dumps(p.EventStreamDecoder))"
    environment = {**os.environ, "RATATOSKR_PURE": pure}
    written = subprocess.check_output([sys.executable, "-c", code], text=True, env=environment)
    assert pickle.loads(ast.literal_eval(written)) is ratatoskr_proto.EventStreamDecoder


@pytest.mark.parametrize("free_threaded", [False, True])
def test_a_free_threaded_python_is_not_asked_for_the_limited_api(monkeypatch, free_threaded):
    """setuptools makes no wheel there if it is asked for, even without an extension."""
    settings = {}
    fake = types.ModuleType("setuptools")
    fake.setup = settings.update
    fake.bdist_wheel = fake.editable_wheel = object
    fake.Extension = lambda *arguments, **options: arguments
    for name in ("", ".command", ".command.bdist_wheel", ".command.editable_wheel"):
        monkeypatch.setitem(sys.modules, f"setuptools{name}", fake)
    monkeypatch.setitem(sysconfig.get_config_vars(), "Py_GIL_DISABLED", int(free_threaded))
    monkeypatch.delenv("RATATOSKR_PURE", raising=False)
    runpy.run_path(str(Path(__file__).parents[2] / "setup.py"))
    assert bool(settings["ext_modules"]) is not free_threaded
    assert bool(settings["options"]) is not free_threaded
