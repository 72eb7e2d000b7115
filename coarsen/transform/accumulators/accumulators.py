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
- **nothing is accessed that was not** (`Certainty`): the load before the loop and the store after it are
  carried out only if the loop certainly comes to a store of its own. A work-item that skips the loop, or all
  accesses in it, neither loads nor stores: the address may be outside of the buffer, or another work-item's;
- **the same operations in the same order**: a device's compiler may still fuse a multiplication with a sum that
  is in a register now, as `-cl-fp-contract` or `#pragma OPENCL FP_CONTRACT` let it.

Inner loops come first; what is then accessed before and after them may be kept in a register in the outer ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.control_flow import FlowGraph, Loop, flow_graph
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots
from coarsen.errors import SourcePosition
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Access, Opcode
from coarsen.ir.graph.display_name import Derivation
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Constant, Operand
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.rewriting import split_block
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType, alignment_of
from coarsen.transform.accumulators.locations import Certainty, Invariants, Location, LoopMemory, Test
from coarsen.transform.names import derived, like, own
from coarsen.transform.regions.plan import Reason


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A location that a loop writes at an address that does not change.

    Attributes:
        name: of the argument or variable in which it lies.
        position: of the first access to it in the loop; None where it isn't known.
        loop: where the loop begins, alike.
        left: why it stays in memory, with a code of the page of codes; None where it does not.
    """

    name: str
    position: SourcePosition | None
    loop: SourcePosition | None
    left: Reason | None = None


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
    found: list[Accumulator] = []
    changed: list[Loop] = []
    for loop in reversed(flow.loops):
        if any(other.blocks <= loop.blocks for other in changed):
            continue
        each = []
        for accumulator in _of_loop(LoopPlace(function, loop), flow, effects, roots):
            each.append(accumulator)
            make_names_unique(function, module.structures)
        found += each
        if any(accumulator.left is None for accumulator in each):
            changed.append(loop)
    return tuple(found)


def _of_loop(
    place: LoopPlace, flow: FlowGraph, effects: EffectsOfKernel, roots: PointerRoots
) -> Iterator[Accumulator]:
    """Keep the locations of one loop in registers, and say of each what was done."""
    preheader, loop = place.preheader, place.loop
    if preheader is None:
        return
    instructions = [each for block in place.blocks for each in block.instructions]
    memory = LoopMemory.of(instructions, effects, roots)
    invariants = Invariants(loop.blocks, effects)
    initial: dict[Operand, Operand] = {
        phi: value for phi in place.header.phis for value, source in phi.edges() if source is preheader
    }
    entering = Invariants(loop.blocks, effects, initial, _first_loads(place.header, effects))
    blocks = {block.name: block for block in place.function.blocks}
    certainty = Certainty(loop, blocks, flow, invariants, entering)
    begins = place.header.terminator.origin.position
    for location in list(memory.locations(invariants)):
        tests = certainty.tests(location.blocks(), location.blocks(stores_only=True))
        left = _why_left(memory, location, tests, invariants)
        first = location.accesses[0].instruction.origin.position
        if left is None and tests is not None:
            keep_in_register(place, location, tests, invariants, entering, certainty.one_iteration())
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
    memory: LoopMemory, location: Location, tests: tuple[Test, ...] | None, invariants: Invariants
) -> Reason | None:
    """Say why a location stays in memory; None where it need not."""
    if memory.is_ordered:
        return Reason(
            "memory-ordered", "a barrier, an atomic or volatile access or an unknown function is in the loop"
        )
    if not location.is_of_one_type:
        return Reason("mixed-types", "it is accessed as more than one type, or as something else than numbers")
    if memory.touches(location, invariants):
        return Reason("may-overlap", f"another access in the loop, through {location.root.name}, may be to it")
    if tests is None:
        return Reason("not-each-time", "the loop may be left without having stored to it")
    return None


# One location of memory, kept in a register for as long as a loop runs.
#
#     preheader:  br header                        preheader:  %g = icmp slt i32 0, %n    (the loop's first test)
#     header:     br %more, body, exit                         br %g, load, enter
#     body:       %old = load float, %p            load:       %first = load float, %p
#                 %new = fadd float %old, %x                   store %first, %slot; br enter
#                 store float %new, %p             body:       %old = load float, %slot
#     exit:                                                    %new = fadd float %old, %x
#                                                              store float %new, %slot
#                                                  leave:      br %g, write, exit              (on each way out)
#                                                  write:      %last = load float, %slot
#                                                              store float %last, %p; br exit
#
# `%slot` is an alloca, of which LLVM makes phis; where the test fails it holds 0, and nothing reads it.
# Without a test, what `load` and `write` hold stands in the preheader and in `leave`. There is no `load` where a
# store comes before every load.

_TRUTH = IntegerType(1)
_PLAIN = Access()


@dataclass(frozen=True)
class LoopPlace:
    """A loop of a function that is being rewritten.

    Attributes:
        function: owned by the caller.
        loop: with one preheader, which always goes on to the header.
    """

    function: Function
    loop: Loop

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The loop's blocks, in the function's order, as they were at first."""
        return tuple(block for block in self.function.blocks if block.name in self.loop.blocks)

    @cached_property
    def header(self) -> Block:
        """The loop's header."""
        return next(block for block in self.blocks if block.name == self.loop.header)

    @property
    def preheader(self) -> Block | None:
        """The block from which the loop is entered; None where there are several, or it goes elsewhere too."""
        outside = [block for block in self.header.predecessors if block.name not in self.loop.blocks]
        return outside[0] if len(outside) == 1 and len(outside[0].terminator.blocks) == 1 else None

    def exits(self) -> dict[Block, list[Block]]:
        """Return the blocks to which the loop is left, each with those of the loop from which it is."""
        found: dict[Block, list[Block]] = {}
        for block in self.blocks:
            for target in dict.fromkeys(block.terminator.blocks):
                if target.name not in self.loop.blocks:
                    found.setdefault(target, []).append(block)
        return found


def keep_in_register(
    place: LoopPlace,
    location: Location,
    tests: Sequence[Test],
    invariants: Invariants,
    entering: Invariants,
    iteration: FlowGraph,
) -> None:
    """Rewrite a loop so that it leaves a location alone; see above.

    Args:
        place: the loop.
        location: that nothing else in it may touch.
        tests: under which each way out has passed a store to it, and else none an access.
        invariants: of the loop.
        entering: of the loop with the values with which it is entered.
        iteration: the flow from the loop's header to its latches.
    """
    preheader = place.preheader
    assert preheader is not None
    first = location.accesses[0].instruction
    entry = Builder(place.function.entry, first.origin).at_start(place.function.entry)
    slot = entry.allocate(location.type, derived(location.root, Derivation.KEPT))
    build = Builder(preheader, first.origin).before(preheader.terminator)
    copies: dict[Operand, Operand] = {}
    address = invariants.copied(location.pointer, build, copies)
    guard = _conjunction(build, tests, invariants, entering, copies)
    # Not left undefined: Intel's compiler takes a phi of that and a value for the value, in work-items that left.
    build.store(Constant(location.type, "zeroinitializer"), slot)
    kept = _Kept(place, location, _access_of(location), address, slot, guard)
    if not _is_stored_first(location, iteration):
        kept.load(build)
    for target, sources in place.exits().items():
        kept.store_on_exit(target, sources, first.origin)
    for access in location.accesses:
        _redirect(access.instruction, slot)


def _conjunction(
    build: Builder,
    tests: Sequence[Test],
    invariants: Invariants,
    entering: Invariants,
    copies: dict[Operand, Operand],
) -> Operand | None:
    """Compute before the loop whether all tests hold; None without any."""
    whole: Operand | None = None
    for test in tests:
        held = (
            entering.copied(test.condition, build, {})
            if test.is_first
            else invariants.copied(test.condition, build, copies)
        )
        if not test.value:
            held = build.select(held, number(_TRUTH, 0), number(_TRUTH, 1), own("not.taken"))
        # By `select`: what a test that comes later is made of need not be defined where an earlier one fails.
        whole = held if whole is None else build.select(whole, held, number(_TRUTH, 0), own("accessed"))
    return whole


def _is_stored_first(location: Location, flow: FlowGraph) -> bool:
    """Return True if a store comes before each load, in whichever block of an iteration."""
    stores = [access.instruction for access in location.accesses if access.is_store]
    loads = [access.instruction for access in location.accesses if not access.is_store]
    return any(all(_precedes(flow, store, load) for load in loads) for store in stores)


def _precedes(flow: FlowGraph, first: Instruction, second: Instruction) -> bool:
    assert first.block is not None
    assert second.block is not None
    if first.block is second.block:
        order = first.block.instructions
        return order.index(first) < order.index(second)
    return flow.dominates(first.block.name, second.block.name)


def _access_of(location: Location) -> Access:
    """Return how the location is accessed outside of the loop: as aligned as by each access in it."""
    natural = alignment_of(location.type)
    details = [each.instruction.detail for each in location.accesses]
    return Access(min(detail.alignment or natural for detail in details if isinstance(detail, Access)))


@dataclass(frozen=True)
class _Kept:
    """A location that is kept in `slot`: where it lies, and if (`guard`) the loop comes to it; None: always."""

    place: LoopPlace
    location: Location
    access: Access
    address: Operand
    slot: Operand
    guard: Operand | None

    def load(self, build: Builder) -> None:
        """Load it before the loop, at the end of the preheader, where `build` builds."""
        if self.guard is None:
            self._load(build)
            return
        preheader, header = build.block, self.place.header
        enter = split_block(preheader, len(preheader.instructions) - 1, f"{header.name}.enter")
        load = Block(f"{header.name}.load", preheader.origin)
        self.place.function.add_after(preheader, load)
        build.at_end(preheader).branch_if(self.guard, load, enter)
        self._load(build.at_end(load))
        build.branch(enter)

    def _load(self, build: Builder) -> None:
        value = build.load(
            self.location.type, self.address, derived(self.location.root, Derivation.BEFORE), self.access
        )
        build.store(value, self.slot)

    def store_on_exit(self, target: Block, sources: Sequence[Block], origin: Origin) -> None:
        """Store it where the loop goes on to a block from some of its own."""
        function, name = self.place.function, self.place.header.name
        leave = function.insert(function.blocks.index(target), Block(f"{name}.leave", target.origin))
        build = Builder(leave, origin)
        merged = _merge_phis(target, sources, build)
        for source in sources:
            for index, end in enumerate(list(source.terminator.blocks)):
                if end is target:
                    source.terminator.set_block(index, leave)
        last = leave
        if self.guard is None:
            self._store(build)
        else:
            write = function.add_after(leave, Block(f"{name}.write", target.origin))
            last = function.add_after(write, Block(f"{name}.left", target.origin))
            build.branch_if(self.guard, write, last)
            self._store(build.at_end(write))
            build.branch(last)
            build.at_end(last)
        build.branch(target)
        for phi, value in merged:
            phi.add_incoming(value, last)

    def _store(self, build: Builder) -> None:
        value = build.load(self.location.type, self.slot, derived(self.location.root, Derivation.AFTER))
        build.store(value, self.address, self.access)


def _merge_phis(target: Block, sources: Sequence[Block], build: Builder) -> list[tuple[Instruction, Instruction]]:
    """Let a new block take what a block's phis take from some sources; return these with their new values."""
    merged = []
    for phi in target.phis:
        taken = [(value, source) for value, source in phi.edges() if source in sources]
        kept = [(value, source) for value, source in phi.edges() if source not in sources]
        phi.set_operands([value for value, _ in kept], [source for _, source in kept])
        merged.append((phi, build.phi(phi.type, taken, like(phi))))
    return merged


def _redirect(access: Instruction, slot: Operand) -> None:
    """Let a load or a store access the slot."""
    access.set_operand(len(access.operands) - 1, slot)
    access.detail, access.attachments = _PLAIN, ()
