"""How often each block of a kernel runs: counted on a device, by a kernel that counts for itself.

    kernel f(…)                    kernel f(…, global uint *executed_blocks)
    entry:                         entry:    atomic_add(&executed_blocks[0], 1)
      …                            loop:     atomic_add(&executed_blocks[1], 1)

It is the kernel's own LLVM IR that counts, written back as OpenCL C: other counters, as Oclgrind's, count what
another compiler has made of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pyopencl as cl

from coarsen.backend.opencl_c import write_opencl_c
from coarsen.devices.building import build_uncached
from coarsen.errors import InternalError
from coarsen.frontend.options import parse_options
from coarsen.frontend.parsing import parsed
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.display_name import Derivation
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.origin import UNKNOWN
from coarsen.ir.graph.printer import module_text
from coarsen.ir.graph.view import kernel_view
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.types import AddressSpace, IntegerType, PointerType
from coarsen.opencl_bench.measure.run import KernelArgument, LaunchableKernel, run_workload
from coarsen.opencl_bench.workloads.benchmark import Launch, Workload
from coarsen.transform.added_arguments import add_arguments
from coarsen.transform.names import derived, like

_COUNT = IntegerType(32)
_COUNTS = Argument(
    "executed_blocks",
    PointerType(AddressSpace.GLOBAL),
    "ptr addrspace(1) noundef align 4 %executed_blocks",
    type_name="uint*",
    base_type_name="uint*",
    address_space=AddressSpace.GLOBAL,
)


@dataclass(frozen=True, slots=True)
class LaunchRuns:
    """How often all work-items of a launch together have run each block, by the block's name."""

    launch: Launch
    blocks: Mapping[str, int]


def counting_kernel(kernel: Kernel) -> Kernel:
    """Return a kernel that counts its blocks in its last argument, an element per block in their order."""
    counted = kernel.editable_graph()
    function = counted.function(kernel.name)
    (counts,) = add_arguments(counted, function, [_COUNTS])
    for index, block in enumerate(function.blocks):
        first = next(i for i in block.instructions if i.opcode not in (Opcode.PHI, Opcode.ALLOCA))
        build = Builder(block, UNKNOWN).before(first)
        place = build.element(_COUNT, counts, [number(IntegerType(64), index)], like(counts).numbered(index))
        build.update_atomically("add", place, number(_COUNT, 1), derived(place, Derivation.BEFORE))
    make_names_unique(function, counted.structures)
    with parsed(module_text(counted), written_by_us=True):
        return kernel_view(counted, kernel.name)


def executed_blocks(
    queue: cl.CommandQueue, kernel: Kernel, work: Workload, build_options: str | Sequence[str] = ()
) -> tuple[LaunchRuns, ...]:
    """Run a workload once and count the blocks of each of its launches.

    Args:
        queue: an in-order queue with profiling enabled.
        kernel: in normal form, coarsened or not.
        work: with launches of this kernel; results are not compared.
        build_options: those of the kernel's source.
    """
    counting = counting_kernel(kernel)
    source = write_opencl_c(counting)
    options = [source.standard, *parse_options(build_options).device_options]
    program = build_uncached(queue.context, source.text, options)
    counted = _Counted(cast("LaunchableKernel", cl.Kernel(program, kernel.name)), len(kernel.blocks))
    run_workload(queue, replace(work, reference=None), lambda _: counted)
    if len(counted.counts) != len(work.launches):
        raise InternalError(f"{len(counted.counts)} launches were counted, not {len(work.launches)}")
    names = [block.name for block in kernel.blocks]
    return tuple(
        LaunchRuns(launch, dict(zip(names, map(int, counts), strict=True)))
        for launch, counts in zip(work.launches, counted.counts, strict=True)
    )


class _Counted:
    """A kernel whose launches are counted one by one."""

    def __init__(self, kernel: LaunchableKernel, blocks: int) -> None:
        self._kernel = kernel
        self._blocks = blocks
        self.counts: list[Sequence[int]] = []

    def __call__(
        self,
        queue: cl.CommandQueue,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        /,
        *arguments: KernelArgument,
        global_offset: tuple[int, ...] | None = None,
    ) -> cl.Event:
        """Enqueue the kernel with counts that start at 0, and wait for them."""
        found = np.zeros(self._blocks, np.uint32)
        buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=found)
        event = self._kernel(queue, global_size, local_size, *arguments, buffer, global_offset=global_offset)
        cl.enqueue_copy(queue, found, buffer, wait_for=[event])
        self.counts.append(found.tolist())
        return event
