"""Another project's tests run with coarsened programs, and compared with a run without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from coarsen.devices.selection import find_device
from coarsen.opencl_bench.studies.suite_plugin import sampled
from coarsen.opencl_bench.studies.suite_rows import SuiteTest, compared, read_rows, write_rows

TESTS = """
import numpy as np
import pyopencl as cl
import pytest
from coarsen.devices.discovery import open_device
from coarsen.devices.selection import find_device

CONTEXT = cl.Context([open_device(find_device({device!r}))])


@pytest.mark.parametrize("size", [64, 1])
def test_launches(size):
    program = cl.Program(CONTEXT, "kernel void one(global int *x) {{ x[get_global_id(0)] = 1; }}").build()
    assert isinstance(program, cl.Program)
    values = np.zeros(64, np.int32)
    buffer = cl.Buffer(CONTEXT, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
    queue = cl.CommandQueue(CONTEXT)
    program.one(queue, (size,), None, buffer)
    cl.enqueue_copy(queue, values, buffer)
    assert values.sum() == size


def test_fails(): assert type(cl.Program).__name__ == "type"
@pytest.mark.xfail
def test_is_expected_to_fail(): assert False
def test_is_skipped(): pytest.skip()
"""
PLUGIN = "coarsen.opencl_bench.studies.suite_plugin"


def run(file: Path, mode: str, *more: str) -> Path:
    """Run the tests in another process; return the file of their rows."""
    rows = file.with_name(f"{mode}.json")
    options = ("-p", PLUGIN, "-p", "no:cacheprovider", "-q", "--coarsen-mode", mode, "--coarsen-rows", str(rows))
    command = [sys.executable, "-m", "pytest", *options, *more, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=file.parent)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return rows


def test_the_same_tests_with_coarsened_programs(tmp_path: Path) -> None:
    file = tmp_path / "test_other.py"
    file.write_text(TESTS.format(device=find_device("intel").index))
    without, with_it = (read_rows(run(file, mode)) for mode in ("none", "factor-2"))
    found = compared(without, with_it)
    assert dict(found.outcomes) == {"passed": 2, "failed": 1, "xfailed": 1, "skipped": 1}
    assert dict(found.differing) == {"test_other.py::test_fails": ("failed", "passed")}
    assert found.launches == (1, 2) and all(row.launches == 0 for row in without.values())
    assert all(seconds > 0 for seconds in found.seconds)
    assert "1 of 2 launches coarsened\ntest_other.py::test_fails: failed, without passed" in str(found)


def test_a_run_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "test_other.py"
    file.write_text("def test_one(): pass\ndef test_two(): pass\n")
    known = {"test_other.py::test_one": SuiteTest("failed", 1.5, 3, 2)}
    write_rows(known, tmp_path / "none.json")
    rows = read_rows(run(file, "none"))
    assert rows["test_other.py::test_one"] == known["test_other.py::test_one"]
    assert rows["test_other.py::test_two"].outcome == "passed"


def test_a_sample_is_the_same_on_every_device() -> None:
    class Item:
        def __init__(self, nodeid: str) -> None:
            self.nodeid = nodeid

    def names(device: str, most: int | None) -> list[str]:
        listed: list[Any] = [Item(f"a.py::t[<context factory for <{device}>>-{number}]") for number in range(20)]
        return [item.nodeid.partition("-")[2] for item in sampled(listed, most)]

    assert names("x", 6) == names("y", 6) == names("x", 9)[:6]
    assert names("x", None) == [f"{number}]" for number in range(20)]
    assert sorted(names("x", 99)) == sorted(names("x", None)) != names("x", 99)
