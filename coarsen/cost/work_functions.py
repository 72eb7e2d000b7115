"""The work of a kernel as functions of the sizes of its launch, counted on the IR that is given, coarsened or not.

    kernel ─▶ loops' counts, branches' shares, footprints ─▶ WorkFunctions ─ .at(sizes) ─▶ WorkCounts

Counts are means over the work-items of the NDRange. Sizes are `global_size(d)`, `local_size(d)`, `groups(d)` and
the whole scalar arguments by their names. What nobody knows is taken for granted as everywhere
(`block_weights.py`): a loop goes round 8 times, both ways of a branch are taken; `unknown` names it.
For predictions only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.executions import ASSUMED_TRIPS, Executions
from coarsen.analysis.expressions import Expression, Quantity, evaluate, number, product, total
from coarsen.analysis.loop_counts import Basis, LoopCount, LoopCounts
from coarsen.cost.access_functions import AccessFunction, accesses_of
from coarsen.cost.instruction_classes import access_class, instruction_classes
from coarsen.cost.instruction_kinds import Kind, kinds_of
from coarsen.cost.local_memory import static_local_bytes
from coarsen.cost.parallelism import dependence_depth
from coarsen.cost.register_pressure import maximum_live_words
from coarsen.cost.work_counts import InstructionClass, LaunchSizes, WorkCounts
from coarsen.ir.kernel import Block, Kernel
from coarsen.ir.types import IntegerType
from coarsen.transform.coarsen import Analysed, analyse

_TimesOfBlock = tuple[Block, Expression]


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


def work_functions(kernel: Kernel) -> WorkFunctions:
    """Return a kernel's work as functions of the sizes of its launch.

    Args:
        kernel: that is launched, coarsened or not.

    Raises:
        RefusalError: the kernel has something that no analysis follows.
    """
    return counted_kernel(analyse(kernel, 0)).functions


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
        chain_operations=_weighted((depth.operations, times) for depth, times in depths),
        chain_accesses=_weighted((depth.accesses, times) for depth, times in depths),
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
        parts[access_class(access.access)].append(access.count)
    return MappingProxyType({kind: total(parts[kind]) for kind in InstructionClass if kind in parts})


def _weighted(counts: Iterable[tuple[int, Expression]]) -> Expression:
    return total(product([number(count), times]) for count, times in counts)


def _unknown(counts: LoopCounts, runs: Executions) -> Iterator[str]:
    for loop in counts.all():
        if loop.count is None:
            yield f"how often the loop at block {loop.header} goes round, taken for {ASSUMED_TRIPS} times"
        elif loop.basis is Basis.BOUND:
            yield f"whether data end the loop at block {loop.header} earlier, taken not to"
    for block in runs.undecided:
        yield f"which way block {block} branches, taken for both"
    for block in runs.agreed:
        yield f"whether merged work-items agree at block {block}, taken to"
