"""Fuzzes a target, or all of them one after the other: ``python tests/fuzz wire --minutes 5``.

With atheris installed the fuzzing is guided by coverage; without it, inputs are mutated blindly.
docs/fuzzing.md says more.
"""

import argparse
import hashlib
import importlib
import importlib.util
import os
import random
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from fuzz import TARGETS
from fuzz.shrinking import failure, shrunk

HERE = Path(__file__).parent
FINDS = HERE / "finds"  # those that are kept for good
OUT = Path(".fuzz")  # what atheris keeps, and new finds; not under version control
LONGEST = 4096


def corpus(name: str, paths: list[Path]) -> Iterator[bytes]:
    """All inputs that there are for a target, those of the files and folders given too."""
    yield from importlib.import_module(f"fuzz.{name}").seeds()
    for path in [FINDS / name, OUT / name / "finds", OUT / name / "corpus", *paths]:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        yield from (file.read_bytes() for file in files if file.is_file())


def mutated(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Data with a few places changed, some of them to what stands in another input."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randint(0, len(data))
        end = min(len(data), start + rng.choice([0, 1, 1, 2, 8, 64]))
        there = rng.randint(0, len(other))
        new = rng.choice(
            [
                b"",
                bytes([rng.randrange(256)]),
                rng.choice([b"\n", b"\r", b"\n\n", b":", b" ", b"\0", b"\xef\xbb\xbf", b"\xff"]),
                data[start:end] * rng.choice([2, 3, 50]),
                other[there : there + rng.choice([1, 4, 16, 64])],
            ]
        )
        data = data[:start] + new + data[end:]
    return data[:LONGEST]


def blind(name: str, inputs: list[bytes], seconds: float) -> tuple[int, list[bytes]]:
    """Run mutations of the inputs; return how many were run, and the first that fails."""
    check = importlib.import_module(f"fuzz.{name}").check
    rng = random.Random()
    count, end, shown = 0, time.monotonic() + seconds, 0.0
    while (now := time.monotonic()) < end:
        if now - shown > 0.5:
            tell(f"{name}: {count} executions, {end - now:.0f} s to go")
            shown = now
        data = mutated(rng.choice(inputs), rng.choice(inputs), rng)
        count += 1
        if failure(check, data) is not None:
            return count, [data]
    return count, []


def guided(name: str, inputs: list[bytes], seconds: float) -> tuple[int, list[bytes]]:
    """Run a target under atheris, in a process of its own since that ends with it."""
    kept, finds = OUT / name / "corpus", OUT / name / "new"
    for folder in (kept, finds):
        folder.mkdir(parents=True, exist_ok=True)
    for data in inputs:
        (kept / hashlib.sha1(data).hexdigest()).write_bytes(data)
    options = [
        f"-max_total_time={max(1, round(seconds))}",
        f"-max_len={LONGEST}",
        f"-artifact_prefix={finds}/",
        "-timeout=20",
        "-print_final_stats=1",
    ]
    command = [sys.executable, "-m", "fuzz.guided", name, *options, str(kept)]
    paths = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    count, last = 0, ""
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        for line in process.stderr:
            last = line if "Error" in line else last
            if found := re.search(r"^#(\d+)\s|number_of_executed_units:\s*(\d+)", line):
                count = int(found[1] or found[2])
                tell(f"{name}: {line.strip()}")
    files = sorted(finds.iterdir())
    if process.returncode and not files:
        raise SystemExit(f"atheris could not run {name}: {last.strip()}")
    inputs = [file.read_bytes() for file in files]
    for file in files:
        file.unlink()
    return count, inputs


def tell(line: str) -> None:
    """Show how it goes, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{line[:78]}\033[K", end="", file=sys.stderr, flush=True)


def keep(name: str, data: bytes) -> None:
    """Shrink an input that failed, write it to a file, and say how it fails."""
    check: Callable[[bytes], None] = importlib.import_module(f"fuzz.{name}").check
    smallest = shrunk(check, data)
    file = OUT / name / "finds" / hashlib.sha1(smallest).hexdigest()[:16]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(smallest)
    print(f"\n{name}: a find of {len(smallest)} bytes, kept as {file}:\n{smallest!r}")
    error = failure(check, smallest)
    if error is None:
        print("It failed under atheris alone: it took too long, or too much memory.")
    else:
        traceback.print_exception(error, file=sys.stdout)


def fuzz(name: str, seconds: float, paths: list[Path]) -> bool:
    """Fuzz a target; return whether it held."""
    check = importlib.import_module(f"fuzz.{name}").check
    inputs = list(dict.fromkeys(corpus(name, paths)))
    start = time.monotonic()
    count = len(inputs)
    finds = [data for data in inputs if failure(check, data) is not None]
    way = guided if importlib.util.find_spec("atheris") else blind
    if seconds and not finds:
        more, finds = way(name, inputs, seconds)
        count += more
    taken = time.monotonic() - start
    tell("")
    for data in finds:
        keep(name, data)
    print(
        f"{name}: {count} executions in {taken:.0f} s, {count / max(taken, 0.001):.0f}/s, "
        f"{len(finds)} finds ({way.__name__}, {len(inputs)} inputs)",
        flush=True,
    )
    return not finds


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("target", choices=[*TARGETS, "all"])
    parser.add_argument("paths", nargs="*", type=Path, help="more inputs: files and folders")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=1.0, help="for each target (1)")
    length.add_argument("--seconds", type=float, help="for each target; 0 runs the corpus alone")
    given = parser.parse_args(arguments)
    for path in given.paths:
        if not path.exists():
            parser.error(f"there is no file or folder {path}")
    seconds = given.minutes * 60 if given.seconds is None else given.seconds
    names = TARGETS if given.target == "all" else [given.target]
    held = [fuzz(name, seconds, given.paths) for name in names]
    return 0 if all(held) else 1
