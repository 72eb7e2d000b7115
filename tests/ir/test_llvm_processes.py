"""Back ends in processes of their own: what they write, how they fail, that none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coarsen.ir.processes import output_of_script

USER = """
import sys
from pathlib import Path
from coarsen.ir.processes import output_of_script
output_of_script(Path(sys.argv[1]), [sys.argv[2]], b"")
"""


def script(folder: Path, code: str) -> Path:
    path = folder / "script.py"
    path.write_text(f"import os, sys, time\n{code}\n")
    return path


def is_running(process: int) -> bool:
    """Whether a process is there and is no zombie."""
    try:
        return ") Z" not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def test_a_script_has_its_arguments_and_the_module(tmp_path: Path) -> None:
    code = "assert __name__ == '__main__'\nprint(sys.argv[1:], sys.stdin.read())"
    assert output_of_script(script(tmp_path, code), ["a", "b c"], b"module") == b"['a', 'b c'] module\n"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("sys.exit('first\\nLLVM ERROR: no such thing\\nlast')", "LLVM ERROR: no such thing"),
        ("raise ValueError('odd')", "ValueError: odd"),
        ("os.abort()", "it stopped without a word"),
    ],
)
def test_the_last_words_of_a_back_end_that_gives_up(tmp_path: Path, code: str, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{words}$"):
        output_of_script(script(tmp_path, code), [], b"")


def test_a_back_end_that_hangs_is_ended(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"took more than 0\.2 seconds"):
        output_of_script(script(tmp_path, "time.sleep(60)"), [], b"", time_limit=0.2)


def test_a_back_end_ends_with_the_program_that_started_it(tmp_path: Path) -> None:
    note = tmp_path / "process"
    code = "note = sys.argv[1]\nopen(note + '.new', 'w').write(str(os.getpid()))\n"
    code += "os.rename(note + '.new', note)\ntime.sleep(60)"
    user = subprocess.Popen([sys.executable, "-c", USER, str(script(tmp_path, code)), str(note)])
    until = time.monotonic() + 20
    while not note.exists() and time.monotonic() < until:
        time.sleep(0.02)
    back_end = int(note.read_text())
    os.kill(user.pid, signal.SIGKILL)
    user.wait()
    while is_running(back_end) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_running(back_end)
