"""Counts a kernel's work on its IR: `work_counts` of a kernel and the sizes of its launch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from coarsen.analysis.affine import SYMBOLIC, Access, access_patterns
from coarsen.analysis.index_forms import IndexForms
from coarsen.analysis.trip_counts import trip_counts
from coarsen.features.instruction_kinds import Kind, kinds_of
from coarsen.features.parallelism import DependenceDepth, dependence_depth
from coarsen.features.register_pressure import maximum_live_words
from coarsen.features.work import UNKNOWN_TRIPS, block_weights
from coarsen.features.work_counts import AccessCount, InstructionClass, LaunchSizes, WorkCounts
from coarsen.ir.kernel import Instruction, Kernel
from coarsen.ir.layout import size_of
from coarsen.ir.types import AddressSpace, FloatType, Type, VectorType
from coarsen.transform.coarsen import analyse

# Bytes that stand for a stride which only the launch's arguments tell: far enough that lanes share nothing.
ASSUMED_STRIDE = 4096
_DOUBLE_BITS = 64
_CONVERSIONS = frozenset({"trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"})
_INTEGER_WORK = frozenset({"getelementptr", "select"})


def work_counts(kernel: Kernel, launch: LaunchSizes, sizes: Mapping[str, int] | None = None) -> WorkCounts:
    """Count the work of a launch.

    Args:
        kernel: that is launched, coarsened or not.
        launch: its sizes.
        sizes: the values of scalar arguments by name. Not used so far: what depends on them counts as unknown.

    Raises:
        RefusalError: the kernel has something that no analysis follows.
    """
    analysed = analyse(kernel, 0)
    control_flow = analysed.divergence.control_flow
    forms = IndexForms(kernel, control_flow, {0: analysed.divergence})
    weights = block_weights(forms)
    reached = [block for block in kernel.blocks if block.name in set(control_flow.reverse_postorder)]
    instructions: Counter[InstructionClass] = Counter()
    barriers = 0
    chains: list[tuple[int, DependenceDepth]] = []
    for block in reached:
        weight = weights[block.name]
        for instruction in block.instructions:
            barriers += weight * (Kind.BARRIER in kinds_of(instruction))
            for kind, count in _classes(instruction):
                instructions[kind] += weight * count
        chains.append((weight, dependence_depth(block.instructions)))
    accesses = access_patterns(forms)
    for access in accesses:
        instructions[_access_class(access)] += weights[access.block]
    return WorkCounts(
        instructions=MappingProxyType({kind: float(count) for kind, count in instructions.items()}),
        accesses=tuple(_counted(accesses, weights, launch)),
        barriers=barriers,
        atomics=sum(weights[access.block] for access in accesses if access.is_atomic),
        local_bytes=_local_bytes(kernel),
        live_words=maximum_live_words(analysed, 1),
        chain_operations=sum(weight * depth.operations for weight, depth in chains),
        chain_accesses=sum(weight * depth.accesses for weight, depth in chains),
        unknown=tuple(_unknown(forms, accesses)),
    )


def _classes(instruction: Instruction) -> Iterator[tuple[InstructionClass, int]]:
    """The classes of what an instruction does besides accesses to memory, each with a count."""
    kinds = kinds_of(instruction)
    times = instruction.type.count if isinstance(instruction.type, VectorType) else 1
    if Kind.BRANCH in kinds or instruction.opcode in ("br", "switch"):
        yield InstructionClass.CONTROL, 1
    elif Kind.MATH in kinds:
        yield InstructionClass.MATH, times
    elif Kind.FLOATING_POINT in kinds:
        yield (InstructionClass.DOUBLE if _is_double(instruction) else InstructionClass.FLOAT), times
    elif Kind.INTEGER in kinds or instruction.opcode in _INTEGER_WORK:
        yield InstructionClass.INTEGER, times
    elif instruction.opcode in _CONVERSIONS:
        yield InstructionClass.CONVERSION, times


def _is_double(instruction: Instruction) -> bool:
    return any(_is_double_type(each) for each in (instruction.type, *(each.type for each in instruction.operands)))


def _is_double_type(type_: Type) -> bool:
    element = type_.element if isinstance(type_, VectorType) else type_
    return isinstance(element, FloatType) and size_of(element) * 8 == _DOUBLE_BITS


def _access_class(access: Access) -> InstructionClass:
    is_local = access.address_space in (AddressSpace.LOCAL, AddressSpace.PRIVATE)
    return InstructionClass.LOCAL_ACCESS if is_local else InstructionClass.GLOBAL_ACCESS


def _counted(accesses: Sequence[Access], weights: Mapping[str, int], launch: LaunchSizes) -> Iterator[AccessCount]:
    siblings = _siblings(accesses)
    for index, access in enumerate(accesses):
        stride = access.stride_along(0)
        yield AccessCount(
            count=weights[access.block],
            bytes=access.access_bytes,
            address_space=access.address_space,
            lane_stride=ASSUMED_STRIDE if stride is SYMBOLIC else stride if isinstance(stride, int) else None,
            replica_stride=siblings.get(index),
            store=access.is_store,
            footprint=_footprint(access, weights[access.block], launch),
            dependent_on_load=not isinstance(stride, int) and stride is not SYMBOLIC,
        )


def _siblings(accesses: Sequence[Access]) -> Mapping[int, int]:
    """The bytes from an access to the nearest that differs from it by a constant alone, by index."""
    families: defaultdict[object, list[tuple[int, int]]] = defaultdict(list)
    for index, access in enumerate(accesses):
        if access.base is not None:
            constant = access.form.constant_part
            rest = frozenset((product, factor) for product, factor in access.form.terms.items() if product)
            key = (access.base.text, access.is_store, access.block, access.access_bytes, rest)
            families[key].append((constant, index))
    nearest: dict[int, int] = {}
    for family in families.values():
        for place, index in family:
            gaps = [abs(place - other) for other, another in family if another != index and other != place]
            if gaps:
                nearest[index] = min(gaps)
    return nearest


def _footprint(access: Access, count: int, launch: LaunchSizes) -> float | None:
    """The bytes from the first to the last that is touched; in a loop as if a work-item's followed each other."""
    if not all(isinstance(stride, int) for stride in access.strides):
        return None
    spans = zip(access.strides, launch.global_size, strict=True)
    return float(access.access_bytes * count + sum(abs(s) * (n - 1) for s, n in spans if isinstance(s, int)))


def _local_bytes(kernel: Kernel) -> int:
    local = (g for g in kernel.globals.values() if g.address_space == AddressSpace.LOCAL)
    return sum(size_of(variable.value_type) for variable in local)


def _unknown(forms: IndexForms, accesses: Sequence[Access]) -> Iterator[str]:
    counts = trip_counts(forms)
    for loop in forms.control_flow.loops:
        if loop.header not in counts:
            yield f"how often the loop at block {loop.header} goes round, taken for {UNKNOWN_TRIPS} times"
    for base in sorted({a.base.text for a in accesses if a.base is not None and a.stride_along(0) is SYMBOLIC}):
        yield f"how far apart neighbours access {base}, taken for {ASSUMED_STRIDE} bytes"
