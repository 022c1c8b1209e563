"""Builds the C version of the wire layer where that is possible; everything else is in
pyproject.toml.

RATATOSKR_PURE=1 builds without it, RATATOSKR_PURE=0 fails where it cannot be built. Without either,
a machine that has no compiler gets a package that is pure Python. See docs/wire.md.
"""

import os
import platform
import shutil
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.editable_wheel import editable_wheel

PURE = os.environ.get("RATATOSKR_PURE", "")
# No other Python has this limited API; free-threaded ones cannot load what is built against it.
SUPPORTED = platform.python_implementation() == "CPython" and not sysconfig.get_config_var(
    "Py_GIL_DISABLED"
)


class EditableWheel(editable_wheel):
    """Removes what an earlier install left beside the sources, so that it is not in use where the
    extension is not wanted any more, or cannot be built.
    """

    def run(self) -> None:
        for path in Path("ratatoskr_proto").glob("_wire_c.*"):
            if path.suffix in (".so", ".pyd"):
                path.unlink()
        super().run()


class Wheel(bdist_wheel):
    """Makes a wheel for every Python and platform if there is no extension to put into it."""

    def run(self) -> None:
        # A module that has been deleted would come back from there.
        shutil.rmtree(self.get_finalized_command("build").build_lib, ignore_errors=True)
        self.run_command("build")
        outputs = self.get_finalized_command("build_ext").get_outputs()
        if not all(Path(path).exists() for path in outputs):
            self.distribution.ext_modules = None
            self.root_is_pure = True
        super().run()


extension = Extension(
    "ratatoskr_proto._wire_c",
    ["ratatoskr_proto/_wire_c.c"],
    py_limited_api=True,
    optional=PURE != "0",
)
if PURE == "0" and not SUPPORTED:
    raise SystemExit("RATATOSKR_PURE=0, but this Python cannot load the C version")
setup(
    ext_modules=[extension] if SUPPORTED and PURE != "1" else [],
    cmdclass={"editable_wheel": EditableWheel, "bdist_wheel": Wheel},
    # setuptools refuses this on a Python without a limited API, even if nothing is compiled.
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if SUPPORTED else {},
)
