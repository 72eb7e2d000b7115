"""Codes whose arrays are read from other memory are measured where a workload's launches suit them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.base.files import MEBIBYTE
from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.pipeline import run_pipeline
from coarsen.tuning.measure.machine import UndividedError
from coarsen.tuning.measure.opencl_machine import OpenClMachine, check_placed
from coarsen.tuning.measure.session import Session, Slot
from coarsen.tuning.processes.compile_service import code_of, original_code
from coarsen.tuning.records.code import Code, code_from_json
from coarsen.tuning.workload.benchmark import (
    Argument,
    BufferArgument,
    Clock,
    Launch,
    NullArgument,
    ScalarArgument,
    Workload,
)
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.placement import Place, PlacedArgument
from coarsen.variant.variant import Variant

OPTIONS = find_benchmark("records-black_scholes_records")


def coded(variant: Variant) -> Code:
    kernel = lower(OPTIONS.code, OPTIONS.kernel, OPTIONS.build_options)
    return code_of(run_pipeline(kernel, variant), "opencl_c", OPTIONS.build_options)


@pytest.mark.compiled_devices
@pytest.mark.parametrize("place", [Place.CONSTANT, Place.NONCOHERENT])
def test_results_are_those_of_global_memory(place: Place, device: DeviceDescription) -> None:
    session = Session(OpenClMachine(device), OPTIONS, "test", 0)
    variant = Variant((64,), (Coarsening(4),), arrays=(ArrayPlan("options", place=place),))
    code = coded(variant)
    assert [each.place for each in code.placed] == [place]
    assert code_from_json(code.to_json()) == code
    session.load(Slot.CANDIDATE, variant, code)
    session.expect(Slot.CANDIDATE, original_code(OPTIONS, (), OPTIONS.source))
    assert session.try_out(Slot.CANDIDATE).wrong == ()
    short = replace(code, placed=(PlacedArgument(0, Place.LOCAL, (), 1),))
    with pytest.raises(UndividedError, match="not the 1 that are copied"):
        session.load(Slot.CANDIDATE, variant, short)


LAST = """kernel void last(constant uchar *a, global uchar *out, ulong size)
{
    out[get_global_id(0)] = a[size - 1 - get_global_id(0)];
}
"""


def test_guard_zones_take_no_constant_memory(device: DeviceDescription) -> None:
    """A buffer may be as large as constant memory, though zones stand on both sides of it."""
    machine = OpenClMachine(device)
    size, items = min(int(machine.device.max_constant_buffer_size), MEBIBYTE), 16
    values = np.arange(size, dtype=np.uint64).astype(np.uint8)
    arguments = (BufferArgument("a"), BufferArgument("out"), ScalarArgument(np.uint64(size)))
    launches = (Launch("last", (items,), (items,), arguments),)
    buffers = {"a": values, "out": np.zeros(items, np.uint8)}
    code = Code("opencl_c", "last", LAST, placed=(PlacedArgument(0, Place.CONSTANT),))
    executor = machine.place(Workload(buffers, launches, ("out",), None))
    executor.load(code, Variant((items,)))(Clock.SUM)
    assert np.array_equal(executor.outputs()["out"], values[::-1][:items]) and executor.violated() == ()


def test_a_pack_keeps_what_launches_need() -> None:
    code = Code("opencl_c", "k", "", placed=(PlacedArgument(0, Place.CONSTANT),))
    assert code_from_json(code.to_json()).placed == code.placed


def check(placed: PlacedArgument, *arguments: str | None, limit: int | None = 64) -> None:
    values: list[Argument] = [NullArgument() if name is None else BufferArgument(name) for name in arguments]
    launches = (Launch("k", (4,), (4,), tuple(values)),)
    buffers = {name: np.zeros(16, np.uint32) for name in ("a", "b")}
    check_placed(
        Code("opencl_c", "k", "", placed=(placed,)), launches, Workload(buffers, launches, (), None), limit
    )


@pytest.mark.parametrize(
    "placed",
    [
        PlacedArgument(0, Place.CONSTANT, (1,)),
        PlacedArgument(0, Place.NONCOHERENT, (1,)),
        PlacedArgument(0, Place.LOCAL, (1,), 64),
    ],
)
def test_what_suits(placed: PlacedArgument) -> None:
    check(placed, "a", "b")
    with pytest.raises(UndividedError, match="the buffer a is written, so it is not read from"):
        check(placed, "a", "a")


def test_what_does_not_suit() -> None:
    check(PlacedArgument(0, Place.CONSTANT), None)
    check(PlacedArgument(0, Place.CONSTANT), "a", limit=None)
    with pytest.raises(UndividedError, match="has 64 bytes, and the device's constant memory takes 63"):
        check(PlacedArgument(0, Place.CONSTANT), "a", limit=63)
    for size in (63, 65):
        with pytest.raises(UndividedError, match=f"has 64 bytes, not the {size} that are copied"):
            check(PlacedArgument(0, Place.LOCAL, (), size), "a")
    with pytest.raises(UndividedError, match="the argument 0 is no buffer"):
        check(PlacedArgument(0, Place.LOCAL, (), 64), None)
