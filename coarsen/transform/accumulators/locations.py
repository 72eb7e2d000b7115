"""The locations that a loop accesses at an address that never changes, and what else it does to memory.

    for (k = 0; k < n; k++)
        c[i * n + j] += a[i * n + k] * b[k * n + j];        location c[i * n + j], one load and one store

A location is free if nothing else in the loop may touch it: other accesses have other roots, whose memory lies
apart, or lie a known distance away (`Distances`), whatever wraps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field

from coarsen.analysis.algebra.exact_forms import ExactForms
from coarsen.analysis.algebra.walk import address_steps
from coarsen.analysis.distinct_arguments import may_meet
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots, Roots
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Argument, Named, Operand, Variable
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import AddressSpace, FloatType, IntegerType, PointerType, Type, VectorType, size_of
from coarsen.transform.accumulators.certainty import Invariants
from coarsen.transform.prologue import INDEX

_BYTE = 8
_SPACES = frozenset({AddressSpace.GLOBAL, AddressSpace.LOCAL})


@dataclass(frozen=True, slots=True)
class PlainAccess:
    """A load or a store, neither atomic nor volatile: of `type`, through `pointer`, which has these roots."""

    instruction: Instruction
    pointer: Operand
    type: Type
    roots: Roots | None

    @property
    def is_store(self) -> bool:
        """Return True for a store."""
        return self.instruction.opcode is Opcode.STORE


@dataclass(slots=True)
class Location:
    """An address that does not change, in the memory of `root`, and the accesses to it in the loop's order."""

    root: Named
    pointer: Operand
    accesses: list[PlainAccess] = field(default_factory=list)

    @property
    def type(self) -> Type:
        """The type of the value that is there; of one kind only if `is_of_one_type`."""
        return self.accesses[0].type

    @property
    def is_of_one_type(self) -> bool:
        """Return True if all accesses are to numbers, or vectors of them, of one type."""
        return len({str(access.type) for access in self.accesses}) == 1 and _is_number(self.type)

    @property
    def is_written(self) -> bool:
        """Return True if the loop stores there."""
        return any(access.is_store for access in self.accesses)

    def blocks(self, *, stores_only: bool = False) -> frozenset[str]:
        """Return the names of the blocks of the accesses, or of the stores alone."""
        chosen = (access.instruction for access in self.accesses if access.is_store or not stores_only)
        return frozenset(each.block.name for each in chosen if each.block is not None)


@dataclass(frozen=True)
class LoopMemory:
    """What a loop does to memory.

    Attributes:
        plain: its plain loads and stores.
        others: the roots of what its calls read and write.
        is_ordered: whether anything in it keeps accesses in order, or may touch any memory.
    """

    plain: tuple[PlainAccess, ...]
    others: tuple[Roots | None, ...]
    is_ordered: bool

    @classmethod
    def of(cls, instructions: Iterable[Instruction], effects: EffectsOfKernel, roots: PointerRoots) -> LoopMemory:
        """Return what the instructions of a loop do."""
        plain: list[PlainAccess] = []
        others: list[Roots | None] = []
        is_ordered = False
        for each in instructions:
            touched = effects.of(each)
            is_ordered |= touched.orders or touched.reads_anything or touched.writes_anything
            if each.opcode is Opcode.LOAD:
                plain.append(PlainAccess(each, each.operands[0], each.type, roots.of(each.operands[0])))
            elif each.opcode is Opcode.STORE:
                value, pointer = each.operands
                plain.append(PlainAccess(each, pointer, value.type, roots.of(pointer)))
            else:
                others += [roots.of(pointer) for pointer in (*touched.reads, *touched.writes)]
        return cls(tuple(plain), tuple(others), is_ordered)

    def locations(self, invariants: Invariants) -> Iterator[Location]:
        """Yield the locations that the loop writes, in the order of their first access."""
        found: dict[Hashable, Location] = {}
        for access in self.plain:
            root = _only_root(access)
            key = None if root is None else invariants.key(access.pointer)
            if root is not None and key is not None:
                found.setdefault(key, Location(root, access.pointer)).accesses.append(access)
        yield from (location for location in found.values() if location.is_written)

    def touches(self, location: Location, distances: Distances) -> bool:
        """Return True if something besides a location's own accesses may touch it.

        Args:
            location: of the loop.
            distances: between addresses of the loop.
        """
        own = {id(access.instruction) for access in location.accesses}
        roots = frozenset({location.root})
        if any(may_meet(roots, other) for other in self.others):
            return True
        others = (access for access in self.plain if id(access.instruction) not in own)
        return any(
            may_meet(roots, access.roots) and not _are_apart(location, access, distances) for access in others
        )


def _only_root(access: PlainAccess) -> Named | None:
    """Return the root of an access to global or local memory, if it is one alone."""
    if access.roots is None or len(access.roots) != 1:
        return None
    (root,) = access.roots
    is_object = isinstance(root, Argument | Variable) and isinstance(root.type, PointerType)
    return root if is_object and _space(access.pointer) in _SPACES else None


def _space(pointer: Operand) -> int:
    return pointer.type.address_space if isinstance(pointer.type, PointerType) else AddressSpace.GENERIC


def _is_number(type_: Type) -> bool:
    element = type_.element if isinstance(type_, VectorType) else type_
    if isinstance(element, IntegerType):
        return element.width % _BYTE == 0
    return isinstance(element, FloatType)


def _are_apart(location: Location, access: PlainAccess, distances: Distances) -> bool:
    """Return True if an access is surely not to any byte of a location, in whichever iterations both are."""
    distance = distances.between(location.pointer, access.pointer)
    if distance is None:
        return False
    return distance >= size_of(location.type) or -distance >= size_of(access.type)


# How far apart two addresses are that a loop does not change.
#
# c[i].x and c[i].y       the same variable steps from the same pointer: 4 bytes
# c[i] and c[i + 1]       for indices of 64 bits: 4 bytes (`exact_forms.py`); for 32 bits not known, i + 1 may wrap
# c[i] and c[j]           not known

# Beyond, addresses of 32 bits might come round.
_FURTHEST = 2**31
_ADDRESSES = 2**64


@dataclass(frozen=True)
class _Steps:
    """An address: from what, by which bytes times values, and how many bytes more."""

    base: Hashable
    variable: Counter[tuple[int, Hashable]]
    constant: int


class Distances:
    """Finds the distances between addresses of one loop.

    Args:
        kernel: in normal form.
        forms: of the kernel.
        invariants: of the loop, in the graph of the kernel.
    """

    def __init__(self, kernel: Kernel, forms: ExactForms, invariants: Invariants) -> None:
        self._kernel = kernel
        self._forms = forms
        self._invariants = invariants

    def between(self, first: Operand, second: Operand) -> int | None:
        """Return how many bytes the second address lies after the first; None where that isn't known."""
        distance = self._by_steps(first, second)
        if distance is None:
            distance = self._by_forms(first, second)
        return distance if distance is not None and abs(distance) < _FURTHEST else None

    def _by_steps(self, first: Operand, second: Operand) -> int | None:
        one, other = self._steps(first), self._steps(second)
        if one is None or other is None or one.base != other.base or one.variable != other.variable:
            return None
        return other.constant - one.constant

    def _steps(self, pointer: Operand) -> _Steps | None:
        variable: Counter[tuple[int, Hashable]] = Counter()
        constant = 0
        while isinstance(pointer, Instruction) and pointer.opcode is Opcode.GETELEMENTPTR:
            viewed = self._kernel.definition.get(pointer.name)
            steps = None if viewed is None else address_steps(viewed, self._kernel.structures)
            if steps is None:
                return None
            for step, operand in zip(steps, pointer.operands[1:], strict=True):
                factor = 1 if step.index is None else step.index.number
                if factor is not None:
                    constant += step.bytes * factor
                    continue
                index, more = _without_constant(operand)
                constant += step.bytes * more
                key = self._invariants.key(index)
                if key is None:
                    return None
                variable[step.bytes, key] += 1
            pointer = pointer.operands[0]
        base = self._invariants.key(pointer)
        return None if base is None else _Steps(base, variable, constant)

    def _by_forms(self, first: Operand, second: Operand) -> int | None:
        if not {first.text, second.text} <= self._kernel.type_of.keys():
            return None
        one, other = map(self._forms.address, (first, second))
        if one.form != other.form or one.wrap is not None or other.wrap is not None:
            return None
        distance = (other.offset - one.offset) % _ADDRESSES
        return distance if distance < _ADDRESSES // 2 else distance - _ADDRESSES


def _without_constant(index: Operand) -> tuple[Operand, int]:
    """Return what an index of 64 bits is the sum of: a value, and a constant if it is one's last operand."""
    total = 0
    while isinstance(index, Instruction) and index.opcode is Opcode.ADD and index.type == INDEX:
        value, last = index.operands
        number = last.number
        if number is None:
            break
        index, total = value, total + number
    return index, total
