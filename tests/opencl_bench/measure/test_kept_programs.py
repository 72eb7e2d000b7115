"""A version is built once for all inputs, and never where a file that it includes may have changed."""

from __future__ import annotations

import itertools

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.building import build_uncached
from coarsen.devices.selection import find_device
from coarsen.tuning.measure import opencl_machine
from coarsen.tuning.measure.opencl_machine import OpenClMachine
from coarsen.tuning.records.code import Code
from coarsen.tuning.workload.benchmark import BufferArgument, Clock, Launch, Workload
from coarsen.variant.variant import Variant

pytestmark = pytest.mark.compiled_devices


def workload(count: int) -> Workload:
    """An input of so many elements."""
    return Workload(
        buffers={"data": np.zeros(count, np.int32)},
        launches=(Launch("fill", (count,), (4,), (BufferArgument("data"),)),),
        outputs=("data",),
        reference=None,
    )


def code(value: int, *options: str) -> Code:
    """Code that fills a buffer."""
    return Code(
        "opencl_c", "fill", f"kernel void fill(global int *d) {{ d[get_global_id(0)] = {value}; }}", options
    )


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str | bytes]:
    """What was built, in its order."""
    found: list[str | bytes] = []

    def counted(context: cl.Context, source: str | bytes, options: tuple[str, ...]) -> cl.Program:
        found.append(source)
        return build_uncached(context, source, options)

    monkeypatch.setattr(opencl_machine, "build_uncached", counted)
    return found


def filled(machine: OpenClMachine, count: int, wanted: Code) -> list[int]:
    """What a kernel has written, run twice on an input of its own."""
    executor = machine.place(workload(count))
    job = executor.load(wanted, Variant((4,)))
    for _ in range(2):
        executor.reset()
        job(Clock.SPAN)
    return list(map(int, executor.outputs()["data"]))


def test_a_version_is_built_once_for_all_inputs(built: list[str | bytes]) -> None:
    machine = OpenClMachine(find_device("pocl"))
    for count, value in itertools.product((4, 8, 12), (1, 2)):
        assert filled(machine, count, code(value)) == [value] * count
    assert len(built) == 2


def test_the_programs_used_last_are_kept(built: list[str | bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencl_machine, "KEPT_PROGRAMS", 2)
    machine = OpenClMachine(find_device("pocl"))
    for value in (1, 2, 1, 3, 1, 2):
        assert filled(machine, 4, code(value)) == [value] * 4
    assert [str(source).split("= ")[1][0] for source in built] == ["1", "2", "3", "2"]


def test_what_may_include_files_is_built_anew(built: list[str | bytes]) -> None:
    machine = OpenClMachine(find_device("pocl"))
    for _ in range(2):
        filled(machine, 4, code(1, "-I."))
    assert len(built) == 2
