"""Advisors and observers of launches that remember what they see, and kernels for them."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyopencl as cl

from coarsen.drop_in.program import Program
from coarsen.runtime.advice import Decision, LaunchRequest, Policy
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DEFAULT, Transforms
from coarsen.variant.variant import Variant
from tests.runtime.hand_coarsened import SOURCE, HandToolchain
from tests.runtime.launch_routes import (
    Anything,
    Buffers,
)

WIDE = Transforms(wide_accesses=True)
KINDS = """
kernel void free(global int *out) { out[get_global_id(0)] = 3 * (int)get_global_id(0); }
kernel void grouped(global int *out) {
    out[get_global_id(0)] = 1000 * (int)get_local_size(0) + (int)get_local_id(0);
}
kernel __attribute__((reqd_work_group_size(16, 1, 1))) void required(global int *out) {
    out[get_global_id(0)] = (int)get_global_id(0);
}
"""


@dataclass
class FakeAdvisor(Policy):
    """Gives the same answer always, or raises it; remembers the questions."""

    answer: Decision | Exception | None
    asked: list[LaunchRequest] = field(default_factory=list)
    looks_at_arguments: bool = True

    def known_variants(self, request: LaunchRequest) -> tuple[Variant, ...]:
        return ()

    def choose(self, request: LaunchRequest) -> Decision | None:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@dataclass
class Recorder:
    """Remembers the launches."""

    seen: list[tuple[str, OriginalLaunch, DividedLaunch]] = field(default_factory=list)

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        self.seen.append((kernel, original, divided))


def advice(factor: int = 1, local_size: tuple[int, ...] = (), transforms: Transforms = DEFAULT) -> Decision:
    return Decision(Variant(local_size, (Coarsening(factor),), transforms=transforms), "somebody measured it")


def advised(
    context: cl.Context,
    answer: Decision | Exception | None,
    hand: HandToolchain | None = None,
    **options: Anything,
) -> tuple[Program, FakeAdvisor]:
    advisor = FakeAdvisor(answer)
    toolchain = hand or HandToolchain()
    chosen: dict[str, Anything] = {"kernels": ["record"], "toolchain": toolchain, **options}
    return Program(context, SOURCE, tune=advisor, **chosen).build(), advisor


def with_arguments(program: Program, buffers: Buffers) -> cl.Kernel:
    kernel: cl.Kernel = program.record
    kernel.set_args(*buffers.all)
    return kernel


def feign_limit(kernel: cl.Kernel, device: cl.Device, items: int) -> None:
    """Let a device say that a kernel takes work-groups up to so many work-items."""
    limit = cl.kernel_work_group_info.WORK_GROUP_SIZE
    # PyOpenCL keeps what a kernel said about itself.
    kernel.get_work_group_info(limit, device)
    cached: dict[Anything, int] = vars(kernel)["_wg_info_cache"]
    cached[(limit, device.int_ptr)] = items
