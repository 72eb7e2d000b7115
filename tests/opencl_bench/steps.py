"""A benchmark whose launches name several kernels, by a macro: one of all, or two with a buffer between them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from coarsen.tuning.workload.benchmark import Array, Benchmark, Clock, Launch, LocalSize, Preset, Size, Workload
from coarsen.tuning.workload.driver_tools import buffers, uniform, unwritten
from coarsen.variant.variant import Definitions

NAME = "steps"
UNSURE = "unsure-steps"
AT_ONCE, IN_TWO = "0", "1"
# The default first; of PLUS another value makes wrong results, but only of one kernel.
TUNABLES = {"IMPL": (AT_ONCE, IN_TWO), "PLUS": ("1", "3")}
SOURCE = """\
kernel void twice(global float *doubled, global const float *input)
{
    size_t i = get_global_id(0);
    doubled[i] = 2.0f * input[i];
}
kernel void add(global float *output, global const float *doubled)
{
    size_t i = get_global_id(0);
    output[i] = doubled[i] + PLUS;
}
kernel void at_once(global float *output, global const float *input)
{
    size_t i = get_global_id(0);
    output[i] = 2.0f * input[i] + 1.0f;
}
"""


def definitions(implementation: str, plus: str = "1") -> Definitions:
    """The macros of a version."""
    return (("IMPL", implementation), ("PLUS", plus))


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """One launch or two."""
    steps = [("at_once", "output", "input")]
    if size["IMPL"]:
        steps = [("twice", "doubled", "input"), ("add", "output", "doubled")]
    return tuple(Launch(kernel, (size["n"],), local_size, buffers(to, by)) for kernel, to, by in steps)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The numbers, a scratch buffer and the results."""
    numbers = uniform(generator, -1, 1, size["n"])

    def reference() -> dict[str, Array]:
        return {"output": 2 * numbers + 1}

    return Workload(
        buffers={
            "input": numbers,
            "doubled": unwritten(size["n"], np.float32),
            "output": unwritten(size["n"], np.float32),
        },
        launches=make_launches(size, local_size),
        outputs=("output",),
        reference=reference,
        absolute_tolerance=1e-6,
    )


STEPS = Benchmark(
    name=NAME,
    dimensions=(0,),
    presets={"test": Preset({"n": 256}, (32,)), "input-1": Preset({"n": 1024}, (32,))},
    make_workload=make_workload,
    local_sizes=((32,), (64,)),
    tunables=TUNABLES,
    make_launches=make_launches,
    kernel_name="twice",
    source_text=SOURCE,
    shared_local_size=(32,),
    other_kernels=("add", "at_once"),
    clock=Clock.SPAN,
    input_macros=(),
)

# No preset has a reference, not even `test`.
UNSURE_STEPS = replace(
    STEPS,
    name=UNSURE,
    presets={name: replace(preset, feasible=False) for name, preset in STEPS.presets.items()},
)
