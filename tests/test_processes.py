"""Work in several processes, from a script that does not expect to be run again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from coarsen.base.processes import FEW, mapped

SCRIPT = """
import os
from coarsen.base.processes import FEW, mapped

def process(_):
    return os.getpid()

{before}print(os.getpid() in mapped(process, range(2 * FEW){processes}))
"""


def run(folder: Path, before: str, processes: str) -> str:
    script = folder / "script.py"
    script.write_text(SCRIPT.format(before=before, processes=processes))
    done = subprocess.run([sys.executable, script.name], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_a_script_works_alone_unless_it_says_otherwise(tmp_path: Path) -> None:
    assert run(tmp_path, "", "") == "True\n"
    assert run(tmp_path, 'if __name__ == "__main__": ', ", 2") == "False\n"


def test_results_are_in_order_however_many_work() -> None:
    numbers = range(-FEW, FEW)
    assert mapped(abs, numbers, 2) == mapped(abs, numbers, 1) == [abs(number) for number in numbers]
