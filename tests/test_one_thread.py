"""NumPy in one thread: a process of its own, since NumPy is loaded once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CODE = """
import os, threading
from coarsen.base.one_thread import load_numpy_in_one_thread
before = dict(os.environ)
load_numpy_in_one_thread()
assert dict(os.environ) == before
import numpy
print(len(os.listdir("/proc/self/task")))
"""


def threads(**environment: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_there_is_one_thread_unless_the_environment_asks_for_more() -> None:
    assert threads() == 1
    assert threads(OPENBLAS_NUM_THREADS="2") == min(2, os.cpu_count() or 1)
