"""The work of a kernel as functions of the sizes of its launch, counted on the IR that is given, coarsened or not.

    kernel ─▶ loops' counts, branches' shares, footprints ─▶ WorkFunctions ─ .at(sizes) ─▶ WorkCounts

Counts are means over the work-items of the NDRange. Sizes are `global_size(d)`, `local_size(d)`, `groups(d)` and
the whole scalar arguments by their names. What nobody knows is taken for granted as everywhere
(`block_profile.py`): a loop goes round 8 times, both ways of a branch are taken; `unknown` names it.
For predictions only.

A configuration is counted for the launch before coarsening; `launched_sizes` are those of the coarsened kernel.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

from coarsen.analysis.access_footprints import AccessFootprint, access_footprints
from coarsen.analysis.algebra.affine import INDIRECT, Access
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.executions import ASSUMED_TRIPS, Executions
from coarsen.analysis.expressions import Expression, Quantity, evaluate, number, product, total
from coarsen.analysis.loop_counts import LoopCount, LoopCounts
from coarsen.cost.block_profile import dependence_depth
from coarsen.cost.instruction_kinds import Kind, access_class, instruction_classes, kinds_of
from coarsen.cost.register_pressure import maximum_live_words, static_local_bytes
from coarsen.cost.work_counts import AccessCount, InstructionClass, LaunchSizes, Sizes, WorkCounts, padded
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.types import IntegerType
from coarsen.transform.coarsen import Analysed
from coarsen.variant.coarsening import Configuration, Level
from coarsen.variant.variant import Variant

_TimesOfBlock = tuple[Block, Expression]
ASSUMED_STRIDE = 4096
"""Bytes that stand for a regular stride that no size says: far enough that neighbours share nothing."""


@dataclass(frozen=True)
class WorkFunctions:
    """The work of one work-item, but for what is said to be of a group: `WorkCounts` before the sizes are known.

    Attributes:
        kernel: its name.
        scalars: the kernel's whole scalar arguments.
        instructions: by class; a vector's elements count one by one.
        accesses: to memory of any kind.
        barriers: that it waits at.
        atomics: that it does.
        local_bytes: local memory of its group, arguments apart.
        live_words: 32-bit registers that it needs.
        chain_operations: operations of the longest chain in which each waits for the one before.
        chain_accesses: accesses of that chain.
        loops: how often each loop goes round.
        unknown: what no size says, in words.
    """

    kernel: str
    scalars: tuple[str, ...]
    instructions: Mapping[InstructionClass, Expression]
    accesses: tuple[AccessFunction, ...]
    barriers: Expression
    atomics: Expression
    local_bytes: int
    live_words: int
    chain_operations: Expression
    chain_accesses: Expression
    loops: tuple[LoopCount, ...]
    unknown: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """All sizes and arguments that something depends on."""
        parts = [self.barriers, self.atomics, self.chain_operations, self.chain_accesses]
        parts += [*self.instructions.values(), *(loop.count for loop in self.loops if loop.count is not None)]
        return frozenset().union(*(part.names for part in parts), *(access.names for access in self.accesses))

    @property
    def arguments(self) -> tuple[str, ...]:
        """The scalar arguments that something depends on, in their order."""
        names = self.names
        return tuple(name for name in self.scalars if name in names)

    def at(self, launch: LaunchSizes, arguments: Mapping[str, int] | None = None) -> WorkCounts:
        """Return the work of a launch in numbers.

        Args:
            launch: its sizes: of a coarsened kernel, those that it is launched with.
            arguments: the values of scalar arguments by name; those that are left out are named in `unknown`.

        Raises:
            InvalidInputError: the sizes give no finite number of work.
        """
        sizes = launch_sizes_by_name(launch) | dict(arguments or {})
        missing = [name for name in self.arguments if name not in sizes]
        return WorkCounts(
            instructions=MappingProxyType(
                {kind: float(evaluate(count, sizes)) for kind, count in self.instructions.items()}
            ),
            accesses=tuple(access.at(sizes) for access in self.accesses),
            barriers=evaluate(self.barriers, sizes),
            atomics=evaluate(self.atomics, sizes),
            local_bytes=self.local_bytes,
            live_words=self.live_words,
            chain_operations=evaluate(self.chain_operations, sizes),
            chain_accesses=evaluate(self.chain_accesses, sizes),
            unknown=(*self.unknown, *(f"the argument {name}, on which work depends" for name in missing)),
        )


@dataclass(frozen=True)
class CountedKernel:
    """A kernel's work with what it was counted from.

    Attributes:
        functions: the work.
        counts: of the kernel's loops.
        runs: how often its blocks run.
    """

    functions: WorkFunctions
    counts: LoopCounts
    runs: Executions


def counted_kernel(analysed: Analysed) -> CountedKernel:
    """Return a kernel's work with what it was counted from.

    Args:
        analysed: the kernel along any dimension, for work-items.
    """
    kernel, divergence = analysed.kernel, analysed.divergence
    forms = IndexForms(kernel, divergence.control_flow, {divergence.dimension: divergence})
    counts = LoopCounts(forms)
    runs = Executions(counts)
    accesses = accesses_of(counts, runs)
    blocks = _blocks(forms, runs)
    depths = [(dependence_depth(block.instructions), times) for block, times in blocks]
    barriers = [(sum(Kind.BARRIER in kinds_of(i) for i in block.instructions), times) for block, times in blocks]
    functions = WorkFunctions(
        kernel=kernel.name,
        scalars=tuple(argument.name for argument in kernel.arguments if isinstance(argument.type, IntegerType)),
        instructions=_instructions(blocks, accesses),
        accesses=accesses,
        barriers=_weighted(barriers),
        atomics=total(access.count for access in accesses if access.access.is_atomic),
        local_bytes=static_local_bytes(kernel),
        live_words=maximum_live_words(analysed, 1),
        chain_operations=_weighted((operations, times) for (operations, _), times in depths),
        chain_accesses=_weighted((accesses, times) for (_, accesses), times in depths),
        loops=counts.all(),
        unknown=tuple(_unknown(counts, runs)),
    )
    return CountedKernel(functions, counts, runs)


def launch_sizes_by_name(launch: LaunchSizes) -> dict[str, Quantity]:
    """Return the sizes of a launch under the names that expressions have for them."""
    sizes: dict[str, Quantity] = {}
    for dimension, (items, local) in enumerate(zip(launch.global_size, launch.local_size, strict=True)):
        sizes |= {f"global_size({dimension})": items, f"local_size({dimension})": local}
        sizes[f"groups({dimension})"] = -(-items // local)
    return sizes


def _blocks(forms: IndexForms, runs: Executions) -> list[_TimesOfBlock]:
    """Return the blocks that can be reached, each with how often it runs."""
    reached = set(forms.control_flow.reverse_postorder)
    return [(block, runs.of(block.name)) for block in forms.kernel.blocks if block.name in reached]


def _instructions(
    blocks: Iterable[_TimesOfBlock], accesses: Iterable[AccessFunction]
) -> Mapping[InstructionClass, Expression]:
    parts: defaultdict[InstructionClass, list[Expression]] = defaultdict(list)
    for block, times in blocks:
        classes = Counter[InstructionClass]()
        for instruction in block.instructions:
            classes.update(dict(instruction_classes(instruction)))
        for kind, count in classes.items():
            parts[kind].append(product([number(count), times]))
    for access in accesses:
        parts[access_class(access.access.address_space)].append(access.count)
    return MappingProxyType({kind: total(parts[kind]) for kind in InstructionClass if kind in parts})


def _weighted(counts: Iterable[tuple[int, Expression]]) -> Expression:
    return total(product([number(count), times]) for count, times in counts)


def _unknown(counts: LoopCounts, runs: Executions) -> Iterator[str]:
    for loop in counts.all():
        if loop.count is None:
            yield f"how often the loop at block {loop.header} goes round, taken for {ASSUMED_TRIPS} times"
        elif loop.is_bound:
            yield f"whether data end the loop at block {loop.header} earlier, taken not to"
    for block in runs.undecided:
        yield f"which way block {block} branches, taken for both"
    for block in runs.agreed:
        yield f"whether merged work-items agree at block {block}, taken to"


@dataclass(frozen=True, slots=True)
class AccessFunction:
    """A memory access: how often a work-item makes it, and where it goes.

    Attributes:
        count: times for each work-item.
        footprint: its strides and the bytes that it touches.
        replica_stride: bytes to the nearest access that differs by a constant alone; None where there is none.
        dependent_on_load: whether its address was loaded.
    """

    count: Expression
    footprint: AccessFootprint
    replica_stride: int | None
    dependent_on_load: bool

    @property
    def access(self) -> Access:
        """The access."""
        return self.footprint.access

    @property
    def names(self) -> frozenset[str]:
        """The sizes that it depends on."""
        footprint = self.footprint
        touched = (footprint.of_item, footprint.of_group, footprint.of_launch)
        parts = (self.count, *footprint.strides, *footprint.iteration_strides.values(), *touched)
        return frozenset().union(*(part.names for part in parts if part is not None))

    def at(self, sizes: Mapping[str, Quantity]) -> AccessCount:
        """Return the access in numbers. Raises InvalidInputError for sizes that give none."""
        footprint = _value(self.footprint.of_launch, sizes)
        return AccessCount(
            count=evaluate(self.count, sizes),
            bytes=self.access.access_bytes,
            address_space=self.access.address_space,
            lane_stride=self._lane_stride(sizes),
            replica_stride=self.replica_stride,
            store=self.access.is_store,
            footprint=None if footprint is None else float(footprint),
            dependent_on_load=self.dependent_on_load,
        )

    def _lane_stride(self, sizes: Mapping[str, Quantity]) -> int | None:
        if self.access.strides[0] is INDIRECT:
            return None
        stride = _value(self.footprint.strides[0], sizes)
        return ASSUMED_STRIDE if stride is None else round(stride)


def accesses_of(counts: LoopCounts, runs: Executions) -> tuple[AccessFunction, ...]:
    """Return a kernel's accesses to memory of any kind, in the order of its instructions."""
    found = access_footprints(counts)
    siblings = nearest_siblings([footprint.access for footprint in found])
    return tuple(
        AccessFunction(
            runs.of(footprint.access.block), footprint, siblings.get(index), _is_loaded(counts, footprint.access)
        )
        for index, footprint in enumerate(found)
    )


def _value(expression: Expression | None, sizes: Mapping[str, Quantity]) -> Quantity | None:
    """Return an expression's value, None where it or one of its names has none."""
    if expression is None or not expression.names <= sizes.keys():
        return None
    return evaluate(expression, sizes)


def _is_loaded(counts: LoopCounts, access: Access) -> bool:
    """Return True if anything that an address is computed from was loaded."""
    kernel = counts.forms.kernel
    names = (symbol.removeprefix("%") for symbol in counts.forms.symbols.origins(access.form))
    pending = [kernel.definition[name] for name in names if name in kernel.definition]
    seen: set[str] = set()
    while pending:
        instruction = pending.pop()
        if instruction.opcode == "load":
            return True
        if instruction.name not in seen:
            seen.add(instruction.name)
            pending += (operand for operand in instruction.operands if isinstance(operand, Instruction))
    return False


def nearest_siblings(accesses: Sequence[Access]) -> Mapping[int, int]:
    """Return the bytes from an access to the nearest that differs from it by a constant alone, by index."""
    families: defaultdict[object, list[tuple[int, int]]] = defaultdict(list)
    for index, access in enumerate(accesses):
        if access.base is not None:
            rest = frozenset(term for term in access.form.terms.items() if term[0])
            key = (access.base.text, access.is_store, access.block, access.access_bytes, rest)
            families[key].append((access.form.constant_part, index))
    nearest: dict[int, int] = {}
    for family in families.values():
        for place, index in family:
            gaps = [abs(place - other) for other, another in family if another != index and other != place]
            if gaps:
                nearest[index] = min(gaps)
    return nearest


@dataclass(frozen=True)
class OriginalLaunch:
    """A launch of the uncoarsened kernel.

    Attributes:
        counted: the kernel's work.
        sizes: of the launch.
        arguments: the values of scalar arguments that are known.
    """

    counted: CountedKernel
    sizes: LaunchSizes
    arguments: Mapping[str, int]

    @cached_property
    def names(self) -> Mapping[str, Quantity]:
        """All sizes by name."""
        return launch_sizes_by_name(self.sizes) | dict(self.arguments)

    @cached_property
    def work(self) -> WorkCounts:
        """The work of a work-item. Raises InvalidInputError where the sizes give no number."""
        return self.counted.functions.at(self.sizes, self.arguments)

    @cached_property
    def length(self) -> int:
        """The number of instructions that stand in the kernel."""
        return self.counted.counts.forms.kernel.length

    @cached_property
    def times(self) -> Mapping[str, float]:
        """Return how often each block runs for a work-item, by name."""
        runs = self.counted.runs
        blocks = self.counted.counts.forms.control_flow.reverse_postorder
        return {block: float(evaluate(runs.of(block), self.names)) for block in blocks}

    def share(self, expression: Expression | None) -> float:
        """Return the value of a share, 1 where it isn't known."""
        if expression is None or not expression.names <= self.names.keys():
            return 1.0
        return min(1.0, max(0.0, float(evaluate(expression, self.names))))


def original_sizes(variant: Variant, launch: LaunchSizes) -> LaunchSizes:
    """Return a launch with the local size that the variant has for it."""
    return replace(launch, local_size=padded(variant.local_size)) if variant.local_size else launch


def launched_sizes(variant: Variant, launch: LaunchSizes) -> LaunchSizes:
    """Return the sizes that the coarsened kernel is launched with.

    Sizes that a factor does not divide are rounded up, as a guard allows.

    Args:
        variant: how the kernel is coarsened.
        launch: the sizes before coarsening; the variant's own local size, if it has one, goes before its own.
    """
    original = original_sizes(variant, launch)
    return LaunchSizes(
        _divided(original.global_size, variant.coarsenings, frozenset(Level)),
        _divided(original.local_size, variant.coarsenings, frozenset({Level.ITEM})),
    )


def _divided(sizes: Sizes, chosen: Configuration, levels: frozenset[Level]) -> Sizes:
    result = list(sizes)
    for coarsening in chosen:
        if coarsening.level in levels:
            result[coarsening.dimension] = -(-result[coarsening.dimension] // coarsening.factor)
    return result[0], result[1], result[2]
