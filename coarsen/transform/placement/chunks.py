"""Tiles inside of loops: a loop is cut into strips, before each of which a group copies what its trips read.

    for (k = 0; k < n; ++k)            for (c = 0; T trips are left; c += T) {
        sum += a[k*w + x]                  barrier; a_tile[cell] = a[address of the cell], shared out; barrier;
               * b[k*w + y];               for (t = 0; t != T; ++t) sum += a_tile[…] * b_tile[…]; }
                                       for (k = c; k < n; ++k) sum += a[k*w + x] * b[k*w + y];

What a strip reads of an array is a box (`footprint.py`) in ids of work-items and the number of the trip. Each
cell that is copied is read by some work-item in the loop as it is written, so no address is read that was not read
before. All work-items of a group begin each strip together: the divergence of any two of them tells.

Source: M. Baskaran et al., A compiler framework for optimization of affine loop nests for GPGPUs, ICS 2008,
section 5.5.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from coarsen.analysis.algebra.exact_forms import ExactForms
from coarsen.analysis.algebra.numbers import number_of, width_of
from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.analysis.divergence import Divergence
from coarsen.errors import RefusalError
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Operand
from coarsen.ir.graph.origin import Origin
from coarsen.ir.kernel import Kernel
from coarsen.ir.metadata import node_items
from coarsen.ir.opencl.queries import DIMENSIONS, Query, queried_dimension, query_of
from coarsen.ir.types import Type, size_of
from coarsen.transform.placement.box_copy import BoxCopy, element_index
from coarsen.transform.placement.boxes import Footprint
from coarsen.transform.placement.footprint import Footprints
from coarsen.transform.placement.strips import TRIP
from coarsen.transform.placement.tile import meet, share, tile_of
from coarsen.transform.placement.together import changeable_values
from coarsen.transform.placement.uses import ArrayUses, uses_of
from coarsen.transform.prologue import Queries

# Trips of a strip that a compiler is told to unroll; an H200 makes 37 TFLOPS of a matrix product then, 31 without.
_UNROLLED = 4
_LOOP = "llvm.loop"
# Up to so many cells for each work-item are copied without a loop.
_MOST_ROUNDS = 32


@dataclass(frozen=True, slots=True)
class StripOfKernel:
    """A strip in a kernel in normal form: the loop that makes its trips, and the block before it."""

    loop: Loop
    before: str


class GroupFlow:
    """The control flow of a whole work-group: where its work-items are together, and what is the same for all.

    Args:
        kernel: in normal form, with the local size that it demands.
        tiles: names of the variables that arrays were copied to.
    """

    def __init__(self, kernel: Kernel, tiles: Collection[str] = ()) -> None:
        self._kernel = kernel
        self._flow = ControlFlow(kernel)
        self._divergence = Divergence(kernel, 0, self._flow, every_dimension=True)
        self._changeable, self._doubtful = changeable_values(kernel, self._flow, tiles)

    def check_together(self, header: str) -> None:
        """Raise RefusalError, `tile-not-together`, unless all work-items begin each round of a loop together."""
        branches = self._divergence.branches
        parting = sorted(self._flow.controlling(header) & (branches | self._doubtful))
        if parting:
            position = self._kernel.block[parting[0]].terminator.position
            what = "a condition differs between them"
            if parting[0] not in branches:
                what = "a condition is of memory that may change while they read it"
            reason = f"not all work-items of a group come to the loop together: {what}"
            raise RefusalError("tile-not-together", reason, position)

    def same_before(self, strip: StripOfKernel) -> frozenset[str]:
        """Return the names of values from before a strip that are the same for all work-items of a group."""
        kernel, sizes = self._kernel, self._kernel.required_work_group_size
        assert sizes is not None
        outside = [block for block in kernel.blocks if block.name not in strip.loop.blocks]
        named = [each for block in outside for each in block.instructions if each.name]
        forms = ExactForms(kernel)
        stay = (each for each in named if each.name not in self._changeable)
        alike = (each for each in stay if not self._divergence.is_divergent(each))
        quotients = (each for each in named if _is_of_group(each, forms, kernel, sizes))
        return frozenset(each.name for each in (*alike, *quotients))


def _is_of_group(quotient: Instruction, forms: ExactForms, kernel: Kernel, sizes: Sequence[int]) -> bool:
    """Return True for a place divided by a multiple of the group's extent: all work-items of a group get the same.

    Ids of work-items that are merged with a stride are made of such quotients.
    """
    divisor = number_of(quotient.operands[1]) if quotient.opcode is Opcode.UDIV else None
    if not divisor:
        return False
    operand = quotient.operands[0]
    terms = forms.form(operand).modulo(width_of(operand.type)).polynomial.terms
    asked: dict[tuple[Query | None, int | None], int] = {}
    for product, coefficient in terms.items():
        name = product[0].removeprefix("%") if len(product) == 1 else ""
        call = kernel.definition.get(name)
        if call is None:
            return False
        key = query_of(call), queried_dimension(call)
        asked[key] = asked.get(key, 0) + coefficient
    modulus = 1 << width_of(operand.type)
    for dimension, size in enumerate(sizes):
        if modulus % size:
            continue  # The place may wrap in the middle of a group.
        place = {(Query.GLOBAL_ID, dimension): 1, (Query.GLOBAL_OFFSET, dimension): -1}
        if {key: each % modulus for key, each in place.items()} == {
            key: each % modulus for key, each in asked.items()
        }:
            return divisor % size == 0
    return False


@dataclass(frozen=True, slots=True)
class Box:
    """What a strip reads of an array, or a part of it.

    Attributes:
        array: its argument's name.
        footprint: the box.
        element: the type of the array's elements.
        reads: the names of what is read by the reads of a trip.
        pad: elements that are added to each row of the copy.
    """

    array: str
    footprint: Footprint
    element: Type
    reads: frozenset[str]
    pad: int = 0

    @property
    def row(self) -> int:
        """The cells of a row."""
        return self.footprint.axes[-1].extent

    @property
    def bytes(self) -> int:
        """The bytes of local memory that the copy takes."""
        rows = self.footprint.cells // self.row
        return rows * (self.row + self.pad) * size_of(self.element)


def boxes_before_strip(
    kernel: Kernel,
    strip: StripOfKernel,
    argument: Argument,
    uses: ArrayUses,
    element: Type,
    given: Collection[str],
) -> list[Box]:
    """Return what a strip reads of an array: as few boxes as reads are apart by unknown distances.

    Args:
        kernel: in normal form, with the local size that it demands.
        strip: of the kernel.
        argument: the array, of which the strip reads something.
        uses: all of the array's.
        element: the type of its elements.
        given: see `GroupFlow.same_before`.

    Raises:
        RefusalError: `place-footprint-unknown`.
    """
    sizes = kernel.required_work_group_size
    assert sizes is not None
    footprints = Footprints(kernel, argument.name, sizes, strip.loop, given)
    parts: list[_Part] = []
    for read, _ in uses.reads:
        if is_in(read, strip.loop):
            known = kernel.definition[read.name], element_index(kernel, argument, read, element)
            # What has no box alone is refused here.
            alone = footprints.of([known])
            if not any(part.takes(known, alone.cells, footprints) for part in parts):
                parts.append(_Part([known], alone, alone.cells))
    return [
        Box(argument.name, part.footprint, element, frozenset(read.name for read, _ in part.reads))
        for part in parts
    ]


@dataclass(slots=True)
class _Part:
    """Reads that have a box together, and the cells that they would have each by itself."""

    reads: list[tuple[Instruction, Operand]]
    footprint: Footprint
    cells_apart: int

    def takes(self, read: tuple[Instruction, Operand], cells: int, footprints: Footprints) -> bool:
        """Add a read if the box is then no larger than those of each; return whether it was."""
        try:
            together = footprints.of([*self.reads, read])
        except RefusalError:
            return False
        if together.cells > self.cells_apart + cells:
            return False
        self.reads.append(read)
        self.footprint = together
        self.cells_apart += cells
        return True


def copy_before_strip(
    kernel: Kernel, module: Module, strip: StripOfKernel, boxes: Sequence[Box], given: Collection[str]
) -> set[str]:
    """Copy boxes before a strip begins, and let its reads read the copies.

    Args:
        kernel: as it was, in normal form, with the local size that it demands.
        module: a copy of its graph that the caller owns.
        strip: of the kernel.
        boxes: what the strip reads of some arrays.
        given: see `GroupFlow.same_before`.

    Returns:
        the names of the variables that they are copied to.
    """
    sizes = kernel.required_work_group_size
    assert sizes is not None
    function = module.function(kernel.name)
    arguments = {each.name: each for each in function.arguments}
    copies: list[tuple[BoxCopy, bool]] = []
    for box in boxes:
        argument = arguments[box.array]
        reads = [(read, slot) for read, slot in uses_of(argument).reads if read.name in box.reads]
        cells = box.footprint.cells
        tile = tile_of(module, function.name, argument, box.element, cells, box.row, box.pad)
        copied = BoxCopy(module, function, argument, reads, box.footprint, tile, given)
        copies.append((copied, box.footprint.is_read_whole(sizes)))
    blocks = {block.name: block for block in function.blocks}
    before, header = blocks[strip.before], blocks[strip.loop.header]
    build = Builder(function.add_after(before, Block(f"{header.name}.tiles", header.origin)), Origin())
    for index, target in enumerate(list(before.terminator.blocks)):
        if target is header:
            before.terminator.set_block(index, build.block)
    items = math.prod(sizes)
    straight = [each for each, is_whole in copies if is_whole and each.tile.count <= _MOST_ROUNDS * items]
    _copy_straight(module, straight, sizes, build)
    for copied, is_whole in copies:
        if copied not in straight:
            taken = None if is_whole else copied.is_taken
            share(*(module, function, copied.array, copied.tile.count, copied.copy, taken, build), meets=False)
    meet(build, module)
    for phi in header.phis:
        phi.set_block(phi.incoming.index(before.name), build.block)
    build.branch(header)
    inside = (block for block in function.blocks if block.name in strip.loop.blocks)
    latches = [block for block in inside if header.name in block.terminator.targets]
    for latch in latches:
        _hint(latch.terminator, module)
    return {copied.tile.variable.name for copied, _ in copies}


def _hint(branch: Instruction, module: Module) -> None:
    """Let the loop of a branch back be unrolled, unless the source says how."""
    known = dict(branch.attachments).get(_LOOP)
    # The first item is the node itself.
    properties = node_items(module.metadata, known)[1:] if known else []
    if any("unroll" in module.metadata[each.removeprefix("!")] for each in properties):
        return
    count = module.add_node(('!"llvm.loop.unroll.count"', f"i32 {_UNROLLED}"))
    node = module.add_node(())
    module.metadata[node.removeprefix("!")] = f"distinct !{{{', '.join((node, *properties, count))}}}"
    branch.attachments = (*(each for each in branch.attachments if each[0] != _LOOP), (_LOOP, node))


def _copy_straight(module: Module, copies: Sequence[BoxCopy], sizes: Sequence[int], build: Builder) -> None:
    """Build the copying of whole boxes without a loop: loads of all arrays, a barrier, stores.

    The loads are under way together, and while the group waits for those that still read the last strip's tiles.
    """
    queries, items = Queries(module), math.prod(sizes)
    item = _item(build, queries, sizes)
    loaded: list[tuple[BoxCopy, Operand, Operand]] = []
    for copied in copies:
        for first in range(0, copied.tile.count - items + 1, items):
            cell = build.binary(Opcode.ADD, item, queries.constant(first), "cell") if first else item
            loaded.append((copied, cell, copied.load(build, queries, cell)))
    meet(build, module)
    for copied, cell, value in loaded:
        copied.store(build, queries, cell, value)
    for copied in copies:
        left = copied.tile.count % items
        if left:
            _copy_rest(copied, build, queries, item, left)
    queries.declare()


def _copy_rest(copied: BoxCopy, build: Builder, queries: Queries, item: Operand, left: int) -> None:
    """Build the copying of the last cells, fewer than work-items."""
    function = build.block.function
    assert function is not None
    inside, done = (Block(f"{name}.{copied.array}", build.origin) for name in ("rest", "copied"))
    function.add_after(build.block, inside)
    function.add_after(inside, done)
    build.branch_if(build.compare("ult", item, queries.constant(left), "inside"), inside, done)
    build.at_end(inside)
    first = queries.constant(copied.tile.count - left)
    copied.copy(build, queries, build.binary(Opcode.ADD, item, first, "cell"))
    build.branch(done)
    build.at_end(done)


def _item(build: Builder, queries: Queries, sizes: Sequence[int]) -> Operand:
    """Build the number of a work-item in its group, dimension 0 first."""
    item: Operand | None = None
    for dimension in reversed(range(DIMENSIONS)):
        if sizes[dimension] == 1:
            continue
        own = queries.ask(build, Query.LOCAL_ID, dimension)
        if item is None:
            item = own
        else:
            row = build.binary(Opcode.MUL, item, queries.constant(sizes[dimension]), "row")
            item = build.binary(Opcode.ADD, row, own, "item")
    return queries.constant(0) if item is None else item


def is_in(read: Instruction, loop: Loop) -> bool:
    """Return True for an instruction in a loop."""
    return read.block is not None and read.block.name in loop.blocks


def strips_of(kernel: Kernel) -> Iterator[StripOfKernel]:
    """Yield the strips that `strip_mined` made of a kernel's loops."""
    flow = ControlFlow(kernel)
    for loop in flow.loops:
        entering = [block for block in flow.predecessors(loop.header) if block not in loop.blocks]
        is_strip = any(phi.name.endswith(TRIP) for phi in kernel.block[loop.header].phis)
        if is_strip and len(entering) == 1:
            yield StripOfKernel(loop, entering[0])
