"""A planted kernel that is right as long as nothing is in its scratch: its second run shows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.tuning.measure.opencl_machine import OpenClMachine
from coarsen.tuning.measure.session import Session, Slot
from coarsen.tuning.records.code import Code
from coarsen.tuning.records.measurement import Method
from coarsen.tuning.workload.benchmark import Array, Benchmark, Clock, Launch, LocalSize, Preset, Size, Workload
from coarsen.tuning.workload.driver_tools import buffers
from coarsen.variant.variant import Variant

SOURCE = """\
kernel void add(global int *output, global const int *input, global const int *count)
{
    size_t i = get_global_id(0);
    output[i] = input[i] + count[0];
}
kernel void leave(global int *count)
{
    count[0] += KEPT;
}
"""
METHOD = Method(repetitions=3, minimum_repetitions=3)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Numbers to which a counter is added that is 0 before the first launch; it is no output."""
    numbers = generator.integers(0, 100, size["n"], dtype=np.int32)

    def reference() -> dict[str, Array]:
        return {"output": numbers}

    return Workload(
        buffers={"input": numbers, "output": np.full_like(numbers, -1), "count": np.zeros(1, np.int32)},
        launches=(
            Launch("add", (size["n"],), local_size, buffers("output", "input", "count")),
            Launch("leave", (1,), (1,), buffers("count")),
        ),
        outputs=("output",),
        reference=reference,
    )


PLANTED = Benchmark(
    name="planted",
    dimensions=(0,),
    presets={"test": Preset({"n": 64}, (16,))},
    make_workload=make_workload,
    kernel_name="add",
    source_text=SOURCE,
    other_kernels=("leave",),
    clock=Clock.SPAN,
)


@pytest.mark.compiled_devices
@pytest.mark.parametrize(("kept", "is_right"), [("0", True), ("1", False)])
def test_what_counts_on_clean_scratch_is_wrong(kept: str, is_right: bool, device: DeviceDescription) -> None:
    session = Session(OpenClMachine(device), PLANTED, "test", 0)
    code = Code("opencl_c", "add", SOURCE, ("-cl-std=CL1.2", f"-DKEPT={kept}"), kernels=("leave",))
    for slot in Slot:
        session.load(slot, Variant((16,)), replace(code))
        session.expect(slot, code)
        assert session.try_out(slot).wrong == ()
    session.time(METHOD)
    wrong = session.wrong_at_last()
    if is_right:
        assert wrong == ()
    else:
        (message,) = wrong
        assert message.startswith(
            "in a later run, with what others had left in scratch, output: 64 of 64 elements"
        )
