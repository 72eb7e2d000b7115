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
  (`analysis/memory_accesses.py`); loads move up to the first, stores down to the last. All stand in one block, so
  all are executed whenever one is, and what was not accessed before is not accessed now;
- **alignment**: `vloadn` and `vstoren` need only that of an element, which each access has.

Refuses when there is nothing to merge but stores after a kernel's loops, because it does not pay: they are
executed once, and PoCL (3.1) no longer vectorises such a kernel across work-items (mvUncoal is 2.5 times slower).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coarsen.analysis.control_flow import ControlFlow
from coarsen.ir.graph.builder import Builder, number, poison
from coarsen.ir.graph.display_name import Derivation, NewName
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Callee, Operand, ValueKind
from coarsen.ir.graph.origin import Role
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import VectorType, VoidType, content_bytes
from coarsen.transform.adjacent_accesses import (
    LOADING,
    STORING,
    AdjacentAccesses,
    Member,
    Run,
    vector_load,
    vector_store,
)
from coarsen.transform.names import NameSupply, like, own
from coarsen.transform.prologue import INDEX


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
        """Yield what is taken for granted, in words."""
        if self.objects_below is not None:
            most = f"{self.objects_below >> 30} GiB"
            yield f"every buffer must be smaller than {most}, or a 32-bit index of a merged access may wrap around"

    def with_run(self, run: Run) -> WideAccesses:
        """Return these and the accesses of one more run."""
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


def widen(kernel: Kernel) -> tuple[Module, WideAccesses]:
    """Merge the accesses of a kernel to neighbouring addresses.

    Args:
        kernel: in normal form. The addresses that are left over are dead code in the result.

    Returns:
        A module with the kernel, not yet verified, and what was merged in it.
    """
    adjacent = AdjacentAccesses(kernel)
    runs = {block.name: tuple(adjacent.runs(block)) for block in kernel.blocks}
    if _are_rare_stores(kernel, runs):
        runs = {}
    module = kernel.editable_graph()
    function = module.function(kernel.name)
    merger = _Merger(kernel, module)
    for block in function.blocks:
        if runs.get(block.name):
            merger.merge(block, runs[block.name])
    merger.declare()
    make_names_unique(function, module.structures)
    return module, merger.merged


def _are_rare_stores(kernel: Kernel, runs: Mapping[str, Sequence[Run]]) -> bool:
    """Return True if all that could be merged are stores executed less often than what the kernel loops over."""
    loops = ControlFlow(kernel).loops
    looping = frozenset[str]().union(*(loop.blocks for loop in loops))
    places = [(block, run.is_load) for block, found in runs.items() for run in found]
    return bool(loops) and all(block not in looping and not is_load for block, is_load in places)


class _Merger:
    """Merges runs in the blocks of one function.

    `_loaded` has, for each wide load, what is taken out of it, where there is one value for each lane.
    """

    def __init__(self, kernel: Kernel, module: Module) -> None:
        self.merged = WideAccesses()
        self._kernel = kernel
        self._module = module
        self._names = NameSupply(kernel)
        self._called: dict[str, Callee] = {}
        self._loaded: list[tuple[Instruction, list[Operand]]] = []

    def declare(self) -> None:
        """Declare what was called and the module had not declared; to be done at the end."""
        self._module.declare(self._called[declaration] for declaration in sorted(self._called))

    def merge(self, block: Block, runs: Sequence[Run]) -> None:
        """Merge the runs of a block."""
        instructions = list(block.instructions)
        pieces = [[instruction] for instruction in instructions]
        positions = {instruction: position for position, instruction in enumerate(instructions)}
        for run in runs:
            self.merged = self.merged.with_run(run)
            for member in run.members:
                pieces[member.position] = []
            chosen = (min if run.is_load else max)(member.position for member in run.members)
            made = Block(block.name)
            build = Builder(made, instructions[chosen].origin)
            with build.making(Role.WIDE, build.origin.replica):
                if run.is_load:
                    self._load(build, run, instructions, positions)
                else:
                    self._store(build, run, instructions)
            pieces[chosen] = made.take_from(0)
        block.replace_instructions([instruction for piece in pieces for instruction in piece])

    def _load(
        self, build: Builder, run: Run, instructions: Sequence[Instruction], positions: Mapping[Instruction, int]
    ) -> None:
        """Build what stands in place of the first load of a run."""
        loads = [instructions[member.position] for member in run.members]
        first = min(run.members, key=lambda member: member.position)
        pointer = loads[0].operands[-1]
        if isinstance(pointer, Instruction) and positions.get(pointer, -1) > first.position:
            wanted = self._names.derived(first.instruction, Derivation.START)
            address, before = instructions[first.position].operands[-1], -_distance(first, run)
            pointer = build.element(run.element, address, [number(INDEX, before)], wanted)
        arguments = [number(self._module.size_type, 0), pointer]
        name = self._names.derived(run.members[0].instruction, Derivation.WIDE)
        wide = build.call(self._callee(run, vector_load), run.vector, arguments, name, LOADING)
        taken: list[Operand] = []
        for member, load in zip(run.members, loads, strict=True):
            value = _taken_out(build, wide, run, member, like(load))
            value.has_unique_name = True
            load.replace_all_uses(value)
            taken.append(value)
        if len(run.members) == run.count:
            self._loaded.append((wide, taken))

    def _store(self, build: Builder, run: Run, instructions: Sequence[Instruction]) -> None:
        """Build what stands in place of the last store of a run."""
        stores = [instructions[member.position] for member in run.members]
        parts = [store.operands[0] for store in stores]
        join = self._joined_vectors if run.parts > 1 else self._joined_scalars
        wide = join(build, parts, run)
        arguments = [wide, number(self._module.size_type, 0), stores[0].operands[-1]]
        build.call(self._callee(run, vector_store), VoidType(), arguments, attributes=STORING)

    def _joined_scalars(self, build: Builder, parts: list[Operand], run: Run) -> Operand:
        for wide, taken in self._loaded:
            if taken == parts:
                return wide
        vector: Operand = poison(VectorType(len(parts), run.element))
        for index, part in enumerate(parts):
            vector = build.insert_element(vector, part, number(INDEX, index), self._names.free(own("wide")))
        return vector

    def _joined_vectors(self, build: Builder, parts: list[Operand], run: Run) -> Operand:
        """Vectors side by side, two and two until there is one."""
        count = run.parts
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            count = 2 * count
            parts = [build.shuffle(*pair, range(count), self._names.free(own("wide"))) for pair in pairs]
        return parts[0]

    def _callee(self, run: Run, builtin: Callable[..., Callee]) -> Callee:
        root = run.place.root
        made = builtin(run.vector, run.place.space, self._module.size_type, is_unsigned=self._is_unsigned(root))
        return self._module.callees.get(made.name) or self._called.setdefault(made.declaration, made)

    def _is_unsigned(self, root: Operand | None) -> bool:
        """Return True if the source declares an argument as a pointer to unsigned integers."""
        if root is None or root.kind is not ValueKind.ARGUMENT:
            return False
        return any(a.name == root.text and a.base_type_name.startswith("u") for a in self._kernel.arguments)


def _taken_out(build: Builder, wide: Instruction, run: Run, member: Member, name: NewName) -> Instruction:
    """Return what a member loads, out of the whole."""
    index = _distance(member, run)
    if run.parts == 1:
        return build.extract_element(wide, number(INDEX, index), name)
    return build.shuffle(wide, poison(wide.type), range(index, index + run.parts), name)


def _distance(member: Member, run: Run) -> int:
    """Return how many elements after the start of its run a member is."""
    distance = member.address.offset - run.members[0].address.offset
    return distance // content_bytes(run.element)
