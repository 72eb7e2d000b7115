"""Codes whose arrays lie otherwise find them packed, and what they leave is compared as the host has it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.pipeline import run_pipeline
from coarsen.tuning.measure.laid_out import arrangements_of, laid_out, shape_in_elements
from coarsen.tuning.measure.machine import LaunchError
from coarsen.tuning.measure.opencl_machine import OpenClExecutor, OpenClMachine
from coarsen.tuning.measure.session import Session, Slot
from coarsen.tuning.processes.compile_service import code_of, original_code
from coarsen.tuning.records.code import Code, Form, LaidArgument, code_from_json
from coarsen.tuning.workload.benchmark import (
    Argument,
    BufferArgument,
    Launch,
    NullArgument,
    ScalarArgument,
    Workload,
)
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_layout import SOA, ArrayLayout, Order, RecordType
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.variant import Variant

OPTIONS = find_benchmark("records-black_scholes_records")
LAID = Variant((64,), arrays=(ArrayPlan("options", SOA), ArrayPlan("quotes", ArrayLayout.parse("aosoa:4"))))
PAIR = LaidArgument("pairs", 0, "8: 4@0 4@4", "soa")


def coded(variant: Variant, form: Form = "opencl_c") -> Code:
    kernel = lower(OPTIONS.code, OPTIONS.kernel, OPTIONS.build_options)
    return code_of(run_pipeline(kernel, variant), form, OPTIONS.build_options)


@pytest.mark.compiled_devices
@pytest.mark.parametrize("variant", [LAID, replace(LAID, coarsenings=(Coarsening(4),))], ids=["plain", "four"])
def test_results_are_compared_as_the_host_has_them(variant: Variant, device: DeviceDescription) -> None:
    session = Session(OpenClMachine(device), OPTIONS, "test", 0)
    code = coded(variant)
    session.load(Slot.CANDIDATE, variant, code)
    session.expect(Slot.CANDIDATE, original_code(OPTIONS, (), OPTIONS.source))
    assert session.try_out(Slot.CANDIDATE).wrong == ()
    # The same code on arrays that nobody packed must show.
    session.load(Slot.CANDIDATE, variant, replace(code, arrays=(replace(code.arrays[0], layout="aos"),)))
    assert session.try_out(Slot.CANDIDATE).wrong != ()


class CountingMachine(OpenClMachine):
    """Counts the workloads that are placed on it."""

    placed = 0

    def place(self, workload: Workload) -> OpenClExecutor:
        self.placed += 1
        return super().place(workload)


@pytest.mark.compiled_devices
def test_arrays_that_lie_as_those_before_are_not_packed_again(device: DeviceDescription) -> None:
    machine = CountingMachine(device)
    session = Session(machine, OPTIONS, "test", 0, default=Variant((64,)))
    original = original_code(OPTIONS, (), OPTIONS.source)
    other = replace(LAID, arrays=LAID.arrays[:1])
    placed = []
    alike = (LAID, replace(LAID, local_size=(32,)), replace(LAID, coarsenings=(Coarsening(4),)))
    for variant in (*alike, other, LAID):
        session.load(Slot.CANDIDATE, variant, coded(variant))
        session.expect(Slot.CANDIDATE, original)
        # What the variant before left in the buffers must not pass for this one's results.
        assert session.try_out(Slot.CANDIDATE).wrong == ()
        placed.append(machine.placed)
    assert [now - placed[0] for now in placed] == [0, 0, 0, 1, 2]


@pytest.mark.parametrize("form", ["opencl_c", "spirv"])
def test_a_code_says_what_is_to_be_packed(form: Form) -> None:
    code = coded(LAID, form)
    assert code_from_json(code.to_json()) == code
    assert [(array.argument, array.index, array.layout) for array in code.arrays] == [
        ("options", 0, "soa"),
        ("quotes", 1, "aosoa:4"),
    ]


def workload(*launches: Launch) -> Workload:
    pairs = np.zeros((3, 5), np.dtype([("x", "f4"), ("y", "f4")]))
    return Workload({"a": pairs, "b": pairs.copy()}, launches, ("a",), None)


def launch(*arguments: str, kernel: str = "k") -> Launch:
    values: tuple[Argument, ...] = (*map(BufferArgument, arguments), ScalarArgument(np.uint32(1)))
    return Launch(kernel, (4,), (4,), values)


def test_the_buffers_of_all_launches_are_packed() -> None:
    code = Code("opencl_c", "k", "", arrays=(replace(PAIR, order=(1, 0)),))
    own = workload(launch("a", "b"), launch("a", "b"))
    found = arrangements_of(own, code, own.launches)
    assert {name: (each.shape, each.order) for name, each in found.items()} == {"a": ((3, 5), Order((1, 0)))}
    made = laid_out(own, found)
    assert made.element_shapes == {"a": (3, 5)} and made.buffers["b"] is own.buffers["b"]
    assert made.buffers["a"].dtype == np.uint8 and made.buffers["a"].nbytes == 120


@pytest.mark.parametrize(
    ("launches", "laid", "message"),
    [
        ((launch("a", "a"),), PAIR, r"the buffer a lies otherwise for one argument.*\[layout-same-buffer\]"),
        ((launch("a", "b"), launch("b", "a", kernel="other")), PAIR, "layout-same-buffer"),
        ((launch("a", "b"),), replace(PAIR, record="16: 4@0 4@8"), "elements have 8 bytes, the kernel's 16"),
        ((launch("a", "b"),), replace(PAIR, order=(0, 2, 1)), "the order 0,2,1 does not fit the shape 3,5"),
        ((launch("a", "b"),), replace(PAIR, shape=(5, 3)), "is of the shape"),
        ((Launch("k", (4,), (4,), (NullArgument(),)),), PAIR, "the argument pairs is no buffer"),
    ],
)
def test_what_can_not_be_packed(launches: tuple[Launch, ...], laid: LaidArgument, message: str) -> None:
    kernels = ("other",) if len(launches) > 1 else ()
    code = Code("opencl_c", "k", "", kernels=kernels, arrays=(laid,))
    with pytest.raises(LaunchError, match=message):
        arrangements_of(workload(*launches), code, launches)


def test_vectors_are_elements_of_arrays_whose_last_axis_has_their_components() -> None:
    array = np.zeros((7, 6, 4), np.float32)
    assert shape_in_elements(array, RecordType.plain(4)) == (7, 6, 4)
    assert shape_in_elements(array, RecordType.plain(16)) == (7, 6)
    with pytest.raises(InvalidInputError):
        shape_in_elements(array, RecordType.plain(8))
