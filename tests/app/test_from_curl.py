"""The page "From curl to ratatoskr": the commands of ours on it work as they stand."""

import re
import shlex
from pathlib import Path

from support.demo import answering, demo_turn

from ratatoskr.cli import connect
from ratatoskr.demo_server import Script
from ratatoskr_proto import ReconnectPolicy

PAGE = (Path(__file__).parents[2] / "docs/from-curl.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE.replace("\\\n", ""), re.DOTALL)
SERVE, *COMMANDS = [
    line for block in BLOCKS for line in block.splitlines() if line.startswith("ratatoskr ")
]


def test_the_commands_of_the_page_work_in_their_order(run_main, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(connect, "POLICY", ReconnectPolicy(floor=0.001, ceiling=0.01))
    Path("turn.sse").write_bytes(demo_turn(events=60))  # as curl has saved it
    assert SERVE == "ratatoskr serve --port 8000 --events 60"
    with answering(Script(events=60)) as base_url:
        for command in COMMANDS:
            # What comes after a pipe or ">" is for others to test.
            ours = re.split(r" [|>] ", command.replace("http://127.0.0.1:8000", base_url))[0]
            expected = re.search(r"# exit code (\d+)$", command)
            run = run_main(*shlex.split(ours, comments=True)[1:])
            assert run.code == int(expected[1] if expected else 0), (command, run.stderr)
            assert run.stdout, command
