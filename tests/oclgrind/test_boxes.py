"""Oclgrind finds that copies of boxes read nothing beside the array, race for nothing and meet as they should."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.ir.graph.builder import number
from coarsen.ir.types import IntegerType
from coarsen.pipeline import run_pipeline
from coarsen.transform.placement.guards import Guards
from coarsen.variant.coarsening import Coarsening, Configuration
from coarsen.variant.data_plan import array_plan
from coarsen.variant.variant import Variant
from tests.oclgrind.watch import Findings, watching
from tests.transform.cases import Argument
from tests.transform.harness import lowered
from tests.transform.layouts.test_boxes import KERNELS, BoxKernel, H, W

_INFO = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR


def runs_on(parameters: dict[str, object]) -> bool:
    """Only Oclgrind looks for accesses beside an array."""
    device = parameters["device"]
    return isinstance(device, DeviceDescription) and device.is_called("oclgrind")


def findings(kernel: BoxKernel, chosen: Configuration, device: DeviceDescription) -> Findings:
    """What Oclgrind finds in a launch on buffers that end with the last element that the kernel reads."""
    plans = tuple(array_plan(name, place="local") for name in kernel.arrays)
    made = run_pipeline(lowered(kernel.case), Variant((), chosen, arrays=plans))
    arguments = kernel.case.arguments(np.random.default_rng(1), W * H)
    local_size = (8 // 2, 4) if chosen else (8, 4)
    global_size = (W // 2, H) if chosen else (W, H)
    with watching(device) as watched:
        program = build_uncached(watched.context, made.opencl_c, [made.opencl_c_standard])
        # OpenCL does not keep the buffers of a kernel's arguments.
        passed = [_passed(watched.context, argument) for argument in arguments]
        found = cl.Kernel(program, "k")
        found.set_args(*passed)
        cl.enqueue_nd_range_kernel(watched.queue, found, global_size, local_size, kernel.offset)
        return watched.findings()


def _passed(context: cl.Context, argument: Argument) -> cl.Buffer | np.generic:
    """What is passed for an argument: these kernels take arrays and numbers alone."""
    assert isinstance(argument, np.ndarray | np.generic)
    return cl.Buffer(context, _INFO, hostbuf=argument) if isinstance(argument, np.ndarray) else argument


@pytest.mark.parametrize("chosen", [(), (Coarsening(2),)], ids=["uncoarsened", "factor2"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_nothing_is_found(kernel: BoxKernel, chosen: Configuration, device: DeviceDescription) -> None:
    assert not findings(kernel, chosen, device)


def test_a_copy_of_what_no_work_item_reads_would_be_found(
    device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    always = number(IntegerType(1), 1)
    monkeypatch.setattr("coarsen.transform.placement.box_copy._BoxCode.is_taken", lambda *_: always)
    assert any("Invalid read" in message for message in findings(KERNELS[0], (), device))


def test_a_copy_of_what_is_read_under_a_condition_alone_would_be_found(
    device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The conditions are left out, as if all work-items came to the reads.
    monkeypatch.setattr(Guards, "conditions", lambda *_: ())
    guarded = next(kernel for kernel in KERNELS if kernel.name == "guarded_star")
    assert any("Invalid read" in message for message in findings(guarded, (), device))
