"""Keep in registers what loops accumulate in memory.

    for (k = 0; k < n; k++)                      if (0 < n) sum = c[i];
        c[i] += a[k] * b[i];                     for (k = 0; k < n; k++)
                                                     sum += a[k] * b[i];
                                                 if (0 < n) c[i] = sum;

For kernels whose arguments point to distinct memory, before they are coarsened: each replica then has a sum of its
own. Why it is legal:

- **nothing else in the loop touches the location** (`locations.py`): other accesses go through other arguments or
  variables, or lie a constant distance away; nothing in it orders memory (barriers, atomics, volatile accesses,
  unknown functions), so that no other work-item may access the location meanwhile, or see when it is written;
- **nothing is accessed that was not** (`certainty.py`): the load before the loop and the store after it are
  carried out only if the loop certainly comes to a store of its own. A work-item that skips the loop, or all
  accesses in it, neither loads nor stores: the address may be outside of the buffer, or another work-item's;
- **the same operations in the same order**: a device's compiler may still fuse a multiplication with a sum that
  is in a register now, as `-cl-fp-contract` or `#pragma OPENCL FP_CONTRACT` let it.

Inner loops come first; what is then accessed before and after them may be kept in a register in the outer ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.analysis.algebra.exact_forms import ExactForms
from coarsen.analysis.control_flow import FlowGraph, Loop, flow_graph
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots
from coarsen.errors import SourcePosition
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Kernel
from coarsen.transform.accumulators.certainty import Certainty, Invariants, Test
from coarsen.transform.accumulators.locations import Distances, Location, LoopMemory
from coarsen.transform.accumulators.register import LoopPlace, keep_in_register


@dataclass(frozen=True, slots=True)
class Left:
    """Why a location is left in memory. `code` is one of `coarsen.base.codes.ACCUMULATOR_REASONS`."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A location that a loop writes at an address that does not change.

    Attributes:
        name: of the argument or variable in which it lies.
        position: of the first access to it in the loop; None where it isn't known.
        loop: where the loop begins, alike.
        left: why it stays in memory; None where it is kept in a register.
    """

    name: str
    position: SourcePosition | None
    loop: SourcePosition | None
    left: Left | None = None


def keep_accumulators(module: Module, kernel: Kernel) -> tuple[Accumulator, ...]:
    """Keep accumulators of a kernel's innermost loops that have any in registers, in place.

    Args:
        module: owned by the caller, the graph of `kernel`, whose arguments point to distinct memory.
        kernel: in normal form.

    Returns:
        The locations of all loops that were looked at: of those around a loop that was changed, none. The module
        must be brought into normal form if any is kept.
    """
    function, effects = module.function(kernel.name), EffectsOfKernel.of_module(module)
    flow, roots = flow_graph(function), PointerRoots()
    forms = ExactForms(kernel)
    found: list[Accumulator] = []
    changed: list[Loop] = []
    for loop in reversed(flow.loops):
        if any(other.blocks <= loop.blocks for other in changed):
            continue
        each = []
        for accumulator in _of_loop(_Loop(function, flow, loop, effects, roots), forms, kernel):
            each.append(accumulator)
            make_names_unique(function, module.structures)
        found += each
        if any(accumulator.left is None for accumulator in each):
            changed.append(loop)
    return tuple(found)


@dataclass(frozen=True)
class _Loop:
    """A loop, with what is known of its function."""

    function: Function
    flow: FlowGraph
    loop: Loop
    effects: EffectsOfKernel
    roots: PointerRoots

    def place(self) -> LoopPlace:
        """Return where it stands."""
        blocks = tuple(block for block in self.function.blocks if block.name in self.loop.blocks)
        header = next(block for block in blocks if block.name == self.loop.header)
        return LoopPlace(self.function, self.loop, header, blocks)


def _of_loop(loop: _Loop, forms: ExactForms, kernel: Kernel) -> Iterator[Accumulator]:
    """Keep the locations of one loop in registers, and say of each what was done."""
    place = loop.place()
    preheader = place.preheader
    if preheader is None:
        return
    instructions = [each for block in place.blocks for each in block.instructions]
    memory = LoopMemory.of(instructions, loop.effects, loop.roots)
    invariants = Invariants(loop.loop.blocks, loop.effects)
    initial: dict[Operand, Operand] = {
        phi: value for phi in place.header.phis for value, source in phi.edges() if source is preheader
    }
    entering = Invariants(loop.loop.blocks, loop.effects, initial, _first_loads(place.header, loop.effects))
    blocks = {block.name: block for block in loop.function.blocks}
    distances = Distances(kernel, forms, invariants)
    certainty = Certainty(loop.loop, blocks, loop.flow, invariants, entering)
    begins = place.header.terminator.origin.position
    for location in list(memory.locations(invariants)):
        tests = certainty.tests(location.blocks(), location.blocks(stores_only=True))
        left = _why_left(memory, location, tests, distances)
        first = location.accesses[0].instruction.origin.position
        if left is None and tests is not None:
            keep_in_register(place, location, tests, invariants, entering)
        yield Accumulator(location.root.name, first, begins, left)


def _first_loads(header: Block, effects: EffectsOfKernel) -> frozenset[Instruction]:
    """Return the loads of a loop's header that give the same just before the loop, where they come next anyway."""
    found: set[Instruction] = set()
    for instruction in header.instructions:
        if effects.has_effect(instruction):
            break
        if instruction.opcode is Opcode.LOAD:
            found.add(instruction)
    return frozenset(found)


def _why_left(
    memory: LoopMemory, location: Location, tests: tuple[Test, ...] | None, distances: Distances
) -> Left | None:
    """Say why a location stays in memory; None where it need not."""
    if memory.is_ordered:
        return Left(
            "memory-ordered", "a barrier, an atomic or volatile access or an unknown function is in the loop"
        )
    if not location.is_of_one_type:
        return Left("mixed-types", "it is accessed as more than one type, or as something else than numbers")
    if memory.touches(location, distances):
        return Left("may-overlap", f"another access in the loop, through {location.root.name}, may be to it")
    if tests is None:
        return Left("not-each-time", "the loop may be left without having stored to it")
    return None
