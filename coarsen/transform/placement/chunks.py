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
from collections.abc import Iterator, Sequence
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
from coarsen.ir.opencl.queries import DIMENSIONS, Query, queried_dimension, query_of
from coarsen.ir.types import Type, size_of
from coarsen.transform.placement.footprint import Footprints
from coarsen.transform.placement.strips import TRIP
from coarsen.transform.placement.tile import BoxCopy, check_copied, element_index, meet, share, tile_of
from coarsen.transform.placement.uses import ArrayUses
from coarsen.transform.prologue import Queries

# Up to so many cells for each work-item are copied without a loop.
_MOST_ROUNDS = 32


@dataclass(frozen=True, slots=True)
class StripOfKernel:
    """A strip in a kernel in normal form: the loop that makes its trips, and the block before it."""

    loop: Loop
    before: str


def check_begun_together(kernel: Kernel, strip: StripOfKernel, sizes: Sequence[int]) -> frozenset[str]:
    """Return the names of values from before a strip that are the same for all work-items of a group.

    Args:
        kernel: in normal form.
        strip: of the kernel.
        sizes: of a work-group, along each dimension.

    Raises:
        RefusalError: `tile-not-together`, unless they begin the strip together.
    """
    flow = ControlFlow(kernel)
    divergence = Divergence(kernel, 0, flow, every_dimension=True)
    parting = sorted(flow.controlling(strip.loop.header) & divergence.branches)
    if parting:
        position = kernel.block[parting[0]].terminator.position
        reason = "not all work-items of a group come to the loop together: a condition differs between them"
        raise RefusalError("tile-not-together", reason, position)
    outside = [block for block in kernel.blocks if block.name not in strip.loop.blocks]
    named = [each for block in outside for each in block.instructions if each.name]
    forms = ExactForms(kernel)
    return frozenset(
        each.name
        for each in named
        if not divergence.is_divergent(each) or _is_of_group(each, forms, kernel, sizes)
    )


def _is_of_group(quotient: Instruction, forms: ExactForms, kernel: Kernel, sizes: Sequence[int]) -> bool:
    """Return True for a work-item's place divided by a multiple of the group's extent: all of a group get the same.

    Ids of work-items that are merged with a stride are made of such quotients.
    """
    divisor = number_of(quotient.operands[1]) if quotient.opcode is Opcode.UDIV else None
    if not divisor:
        return False
    operand = quotient.operands[0]
    terms = forms.form(operand).modulo(width_of(operand.type)).polynomial.terms
    asked = {}
    for product, coefficient in terms.items():
        name = product[0].removeprefix("%") if len(product) == 1 else ""
        call = kernel.definition.get(name)
        if call is None:
            return False
        asked[query_of(call), queried_dimension(call)] = coefficient
    modulus = 1 << width_of(operand.type)
    for dimension, size in enumerate(sizes):
        place = {(Query.GLOBAL_ID, dimension): 1, (Query.GLOBAL_OFFSET, dimension): -1}
        if {key: each % modulus for key, each in place.items()} == {
            key: each % modulus for key, each in asked.items()
        }:
            return divisor % size == 0
    return False


def copy_before_strip(
    kernel: Kernel,
    module: Module,
    strip: StripOfKernel,
    arrays: Sequence[tuple[Argument, ArrayUses, Type]],
) -> None:
    """Copy what a strip reads of arrays before it begins, and let its reads read the copies.

    Args:
        kernel: as it was, in normal form, with the local size that it demands.
        module: a copy of its graph that the caller owns.
        strip: of the kernel.
        arrays: each with all of its uses in the module, and the type of its elements.

    Raises:
        RefusalError: `tile-not-together`, `place-extent-unknown`, `place-footprint-unknown`, `place-too-large`.
    """
    sizes = kernel.required_work_group_size
    if sizes is None:
        reason = "how much a strip reads is not known: let the kernel demand its local size (reqd_work_group_size)"
        raise RefusalError("place-extent-unknown", reason)
    given = check_begun_together(kernel, strip, sizes)
    function = module.function(kernel.name)
    copies: list[tuple[BoxCopy, bool]] = []
    bytes_ = 0
    for argument, uses, element in arrays:
        reads = [(read, slot) for read, slot in uses.reads if _is_in(read, strip.loop)]
        if not reads:
            continue
        indices = [element_index(kernel, argument, read, element) for read, _ in reads]
        known = [(kernel.definition[read.name], index) for (read, _), index in zip(reads, indices, strict=True)]
        box = Footprints(kernel, argument.name, sizes, strip.loop, given).of(known)
        bytes_ += box.cells * size_of(element)
        check_copied(f"a strip reads {box.cells} elements of {argument.name}, in all {bytes_} bytes", bytes_)
        tile = tile_of(module, function.name, argument, element, box.cells)
        copied = BoxCopy(module, function, argument, reads, box, tile, given)
        copies.append((copied, box.is_read_whole(sizes)))
    if not copies:
        reason = "the loop reads nothing of the arrays: there is nothing to copy"
        raise RefusalError("place-footprint-unknown", reason)
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
            share(
                *(module, function, copied.array, copied.tile.count, copied.copy, taken, build),
                meets=False,
            )
    meet(build, module)
    for phi in header.phis:
        phi.set_block(phi.incoming.index(before.name), build.block)
    build.branch(header)


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
        copied.store(build, cell, value)
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


def _is_in(read: Instruction, loop: Loop) -> bool:
    return read.block is not None and read.block.name in loop.blocks


def strips_of(kernel: Kernel) -> Iterator[StripOfKernel]:
    """Yield the strips that `strip_mined` made of a kernel's loops."""
    flow = ControlFlow(kernel)
    for loop in flow.loops:
        entering = [block for block in flow.predecessors(loop.header) if block not in loop.blocks]
        is_strip = any(phi.name.endswith(TRIP) for phi in kernel.block[loop.header].phis)
        if is_strip and len(entering) == 1:
            yield StripOfKernel(loop, entering[0])
