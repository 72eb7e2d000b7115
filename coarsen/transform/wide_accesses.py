"""Wide accesses: one vector access in place of scalar ones to neighbouring addresses.

    before                                   after
    %v   = load float, %p                    %v.wide = call <2 x float> vload2(0, %p)
    %v.1 = load float, %p.1                  %v   = extractelement %v.wide, 0
                                             %v.1 = extractelement %v.wide, 1
    store float %s, %q
    store float %s.1, %q.1                   %wide.0 = insertelement poison, %s, 0
                                             %wide   = insertelement %wide.0, %s.1, 1
                                             call vstore2(%wide, 0, %q)

Which accesses those are, and what is refused, `adjacent_accesses.py` says. Why it is legal:

- **the addresses are neighbours**, whatever wraps (`exact_forms.py`): always for indices of 64 bits; for those of
  32 bits in every memory object that is smaller than 2^32 times what they are scaled by, 16 GiB for floats.
  `WideAccesses.objects_below` says what a launch has to keep to; it is 4 GiB or more;
- **nothing is reordered that could tell**: between the first and the last of them nothing touches the same memory
  (`aliasing.py`); loads move up to the first, stores down to the last. All stand in one block, so all are executed
  whenever one is, and what was not accessed before is not accessed now;
- **alignment**: `vloadn` and `vstoren` need only that of an element, which each access has.

Refuses when there is nothing to merge but stores behind a kernel's loops, because it does not pay: they are
executed once, and PoCL (3.1) no longer vectorises such a kernel across work-items (mvUncoal is 2.5 times slower).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coarsen.analysis.control_flow import ControlFlow
from coarsen.ir.kernel import Block, Kernel, Value, ValueKind
from coarsen.ir.layout import content_bytes
from coarsen.ir.printer import assemble
from coarsen.ir.types import IntegerType, VectorType, quoted
from coarsen.transform.adjacent_accesses import AdjacentAccesses, Member, Run
from coarsen.transform.names import NameSupply
from coarsen.transform.vector_builtins import VectorBuiltins

# The lines of a vector's making, and in the end its name.
Lines = Generator[str, None, str]


@dataclass(frozen=True, slots=True)
class WideAccesses:
    """What was merged: how many loads became how many wide ones, and stores.

    `objects_below` is the size in bytes that every memory object of a launch must stay below for the result to be
    right, None if any will do.
    """

    loads: int = 0
    wide_loads: int = 0
    stores: int = 0
    wide_stores: int = 0
    objects_below: int | None = None

    def assumptions(self) -> Iterator[str]:
        """What is taken for granted, in words."""
        if self.objects_below is not None:
            most = f"{self.objects_below >> 30} GiB"
            yield f"every buffer must be smaller than {most}, or a 32-bit index of a merged access may wrap around"

    def with_run(self, run: Run) -> WideAccesses:
        """These and the accesses of one more run."""
        sizes = [size for size in (self.objects_below, run.objects_below) if size is not None]
        merged = len(run.members)
        return replace(
            self,
            loads=self.loads + merged * run.is_load,
            wide_loads=self.wide_loads + run.is_load,
            stores=self.stores + merged * (not run.is_load),
            wide_stores=self.wide_stores + (not run.is_load),
            objects_below=min(sizes, default=None),
        )


@dataclass(frozen=True)
class Widened:
    """The LLVM IR text of a module, not yet verified, and what was merged in it."""

    assembly: str
    merged: WideAccesses


def widen(kernel: Kernel) -> Widened:
    """Merge the accesses of a kernel to neighbouring addresses.

    Args:
        kernel: in normal form. The addresses that are left over are dead code in the result.
    """
    adjacent = AdjacentAccesses(kernel)
    runs = {block.name: tuple(adjacent.runs(block)) for block in kernel.blocks}
    if _are_rare_stores(kernel, runs):
        runs = {}
    writer = _Writer(kernel)
    blocks = [(block.name, writer.block(block, runs.get(block.name, ()))) for block in kernel.blocks]
    return Widened(assemble(kernel, blocks, writer.declarations()), writer.merged)


def _are_rare_stores(kernel: Kernel, runs: Mapping[str, Sequence[Run]]) -> bool:
    """Whether all that could be merged are stores that are executed less often than what the kernel loops over."""
    loops = ControlFlow(kernel).loops
    looping = frozenset[str]().union(*(loop.blocks for loop in loops))
    places = [(block, run.is_load) for block, found in runs.items() for run in found]
    return bool(loops) and all(block not in looping and not is_load for block, is_load in places)


@dataclass
class _Writer:
    """Writes a kernel's blocks.

    `_loaded` has what is taken out of a wide load, where there is one value for each lane.
    """

    kernel: Kernel
    merged: WideAccesses = WideAccesses()
    _declared: set[str] = field(default_factory=set)
    _loaded: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._names = NameSupply(self.kernel)

    def declarations(self) -> Iterator[str]:
        """The `declare` lines of builtins that the kernel did not call before."""
        known = self.kernel.before + self.kernel.after
        for line in sorted(self._declared):
            if f"{line.partition('(')[0].partition('@')[2]}(" not in known:
                yield line

    def block(self, block: Block, runs: Sequence[Run]) -> list[str]:
        """The lines of a block, the runs in it merged."""
        lines = [[instruction.text] for instruction in block.instructions]
        positions = {i.name: position for position, i in enumerate(block.instructions) if i.name}
        for run in runs:
            self.merged = self.merged.with_run(run)
            for member in run.members:
                lines[member.position] = []
            chosen = (min if run.is_load else max)(member.position for member in run.members)
            lines[chosen] = list(self._load(run, positions) if run.is_load else self._store(run))
        return [line for each in lines for line in each]

    def _load(self, run: Run, positions: Mapping[str, int]) -> Iterator[str]:
        """The lines in place of the first load of a run."""
        first = min(run.members, key=lambda member: member.position)
        pointer = _spelling(run.members[0].pointer)
        if _position(run.members[0].pointer, positions) > first.position:
            pointer = f"%{self._names.fresh(f'{first.instruction.name}.start')}"
            yield f"{pointer} = {_before(first, run)}"
        builtins = self._builtins(run)
        self._declared.add(builtins.load_declaration)
        wide = f"%{self._names.fresh(f'{run.members[0].instruction.name}.wide')}"
        yield f"{wide} = {builtins.load(pointer)}"
        if len(run.members) == run.count:
            self._loaded[wide] = [f"%{member.instruction.name}" for member in run.members]
        for member in run.members:
            yield f"%{member.instruction.name} = {_taken_out(wide, builtins.type, run, member)}"

    def _store(self, run: Run) -> Iterator[str]:
        """The lines in place of the last store of a run."""
        builtins = self._builtins(run)
        self._declared.add(builtins.store_declaration)
        parts = [_spelling(member.instruction.operands[0]) for member in run.members]
        wide = yield from self._joined_vectors(parts, run) if run.parts > 1 else self._joined_scalars(parts, run)
        yield builtins.store(wide, _spelling(run.members[0].pointer))

    def _joined_scalars(self, parts: list[str], run: Run) -> Lines:
        vector, type_ = "poison", VectorType(len(parts), run.element)
        if parts in self._loaded.values():
            return next(wide for wide, loaded in self._loaded.items() if loaded == parts)
        for index, part in enumerate(parts):
            name = f"%{self._names.fresh('wide')}"
            yield f"{name} = insertelement {type_} {vector}, {run.element} {part}, i64 {index}"
            vector = name
        return vector

    def _joined_vectors(self, parts: list[str], run: Run) -> Lines:
        """Vectors side by side, two and two until there is one."""
        count = run.parts
        while len(parts) > 1:
            type_ = VectorType(count, run.element)
            joined = []
            for left, right in zip(parts[::2], parts[1::2], strict=True):
                name = f"%{self._names.fresh('wide')}"
                yield f"{name} = shufflevector {type_} {left}, {type_} {right}, {_mask(0, 2 * count)}"
                joined.append(name)
            parts, count = joined, 2 * count
        return parts[0]

    def _builtins(self, run: Run) -> VectorBuiltins:
        type_ = VectorType(run.count * run.parts, run.element)
        size_type = IntegerType(32 if 'target triple = "spir-' in self.kernel.before else 64)
        return VectorBuiltins(type_, run.place.space, self._is_unsigned(run.place.root), size_type)

    def _is_unsigned(self, root: Value | None) -> bool:
        """Whether the source declares an argument as a pointer to unsigned integers."""
        if root is None or root.kind is not ValueKind.ARGUMENT:
            return False
        return any(a.name == root.text and a.base_type_name.startswith("u") for a in self.kernel.arguments)


def _position(pointer: Value, positions: Mapping[str, int]) -> int:
    """Where in its block a pointer is computed; -1 where it is known before."""
    return positions.get(pointer.text, -1) if pointer.kind is ValueKind.INSTRUCTION else -1


def _taken_out(wide: str, type_: VectorType, run: Run, member: Member) -> str:
    """What a member loads, out of the whole."""
    distance = member.address.offset - run.members[0].address.offset
    index = distance // content_bytes(run.element)
    if run.parts == 1:
        return f"extractelement {type_} {wide}, i64 {index}"
    return f"shufflevector {type_} {wide}, {type_} poison, {_mask(index, run.parts)}"


def _mask(first: int, count: int) -> str:
    return f"<{count} x i32> <{', '.join(f'i32 {index}' for index in range(first, first + count))}>"


def _before(member: Member, run: Run) -> str:
    """The start of a run, from the address of a member behind it."""
    distance = member.address.offset - run.members[0].address.offset
    index = -(distance // content_bytes(run.element))
    pointer = f"{member.pointer.type} {_spelling(member.pointer)}"
    return f"getelementptr inbounds {run.element}, {pointer}, i64 {index}"


def _spelling(value: Value) -> str:
    """An operand's text behind its type."""
    if value.is_local:
        return f"%{value.text}"
    return f"@{quoted(value.text)}" if value.kind is ValueKind.GLOBAL else value.text
