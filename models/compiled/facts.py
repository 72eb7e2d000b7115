"""The facts of a compilation, as far as a device's compiler tells them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledFacts:
    """A kernel as a device's compiler has compiled it; None where that isn't known.

    Args:
        item_lanes: work-items that one vector instruction executes, 1 where the compiler did not vectorise over
            work-items; of GPUs, whose hardware runs work-items side by side, None.
        loop_lanes: iterations of a loop in the kernel that one vector instruction executes, the largest of all its
            loops; 1 where none is vectorised.
        operation_bytes: the data that an instruction on vectors or memory works on, in bytes: a mean in which code
            in loops counts more; 4 in scalar code on `float`.
        gathers: vector loads from scattered addresses, counted in the code.
        scatters: vector stores to scattered addresses, likewise.
        registers: 32-bit registers of a work-item.
        spilled_bytes: bytes that found no register; on GPUs of a work-item, on CPUs of the function's frame.
        frame_bytes: the stack frame of the function that runs a work-group (CPUs) or a work-item (GPUs).
        private_bytes: private memory of a work-item, as OpenCL reports it.
        local_bytes: local memory of a work-group, arguments left out.
        occupancy: share of the work-items that a compute unit can hold which it holds, from 0 to 1.
        code_bytes: machine code of the kernel.
        instructions: instructions of the kernel, in machine code (CPUs) or PTX (NVIDIA).
        weighted_instructions: machine instructions, of which one in a loop counts eight times for each loop around
            it.
        group_multiple: the multiple of work-items in a work-group that the device prefers.
        largest_group: work-items that a work-group of this kernel may have.
    """

    item_lanes: int | None = None
    loop_lanes: int | None = None
    operation_bytes: float | None = None
    gathers: int | None = None
    scatters: int | None = None
    registers: int | None = None
    spilled_bytes: int | None = None
    frame_bytes: int | None = None
    private_bytes: int | None = None
    local_bytes: int | None = None
    occupancy: float | None = None
    code_bytes: int | None = None
    instructions: int | None = None
    weighted_instructions: float | None = None
    group_multiple: int | None = None
    largest_group: int | None = None

    @property
    def vectorised(self) -> str | None:
        """The direction of vectorisation: "work-items", "loop", "both" or "nothing"; None where it isn't known."""
        if self.item_lanes is None or self.loop_lanes is None:
            return None
        directions = {
            (True, True): "both",
            (True, False): "work-items",
            (False, True): "loop",
            (False, False): "nothing",
        }
        return directions[self.item_lanes > 1, self.loop_lanes > 1]
