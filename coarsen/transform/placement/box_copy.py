"""A tile in local memory that holds the elements which a work-group reads, copied before it reads them.

    kernel void f(…, global const float *a)   local float a_tile[18][18];
    {                                         for (cell = linear local id; cell < 18*18; cell += items in group)
        … a[(y + 1)*w + x] …                      if (some read takes it)
                                                      a_tile[cell] = a[address of the cell];
                                              barrier(CLK_LOCAL_MEM_FENCE);
                                              … a_tile[local id 1 + 2][local id 0 + 1] …

A cell's address is that of one of the reads, computed anew with other ids and counters, so that its place along
each axis is the cell's. It's known which work-items come to a read (`guards.py`), so that just what the kernel
reads is copied.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.errors import RefusalError
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Access, ElementAddress, Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Constant, Operand
from coarsen.ir.graph.origin import Origin
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import DIMENSIONS, Query, queried_dimension, query_named
from coarsen.ir.types import IntegerType, Type, alignment_of, size_of
from coarsen.transform.placement.boxes import Footprint, Span, is_clamp, is_signed
from coarsen.transform.placement.footprint import Footprints
from coarsen.transform.placement.guards import PURE_CONDITIONS, UNIFORM_QUERIES
from coarsen.transform.placement.tile import Tile, check_copied, check_copied_whole, share_at_start, tile_of
from coarsen.transform.placement.uses import ArrayUses, allow_changes
from coarsen.transform.prologue import INDEX, Queries

_EXTENSIONS = frozenset({Opcode.SEXT, Opcode.ZEXT})


def element_index(kernel: Kernel, argument: Argument, read: Instruction, element: Type) -> Operand:
    """Return the index of the one element that a read takes. Raises RefusalError, `place-footprint-unknown`."""
    address = read.operands[0]
    is_whole = read.opcode is Opcode.LOAD and size_of(read.type) == size_of(element)
    if is_whole and address is argument:
        return Constant(INDEX, "0")
    if (
        is_whole
        and isinstance(address, Instruction)
        and address.operands[0] is argument
        and len(address.operands) == 2
        and isinstance(address.detail, ElementAddress)
        and size_of(address.detail.source_type) == size_of(element)
    ):
        return kernel.definition[address.name].operands[1]
    reason = f"what a work-group reads of {argument.name} isn't known: this takes something else than an element"
    raise RefusalError("place-footprint-unknown", reason, read.position)


def copy_box_at_start(kernel: Kernel, module: Module, argument: Argument, uses: ArrayUses, element: Type) -> None:
    """Copy the part of an array that a work-group reads at a kernel's start, and let the reads read the copy.

    Args:
        kernel: as it was.
        module: a copy of its graph that the caller owns.
        argument: the array.
        uses: of it, in the order of the kernel, so that the first one that is no part of a box is named.
        element: its type.

    Raises:
        RefusalError: `place-extent-unknown`, `place-footprint-unknown`, `place-too-large`.
    """
    sizes = kernel.required_work_group_size
    first = next((read.position for read, _ in uses.reads), None)
    if sizes is None:
        reason = (
            f"how much of {argument.name} a work-group reads is not known: give the array's shape, or let the "
            "kernel demand its local size (reqd_work_group_size)"
        )
        raise RefusalError("place-extent-unknown", reason, first)
    if not uses.reads:
        raise RefusalError(
            "place-footprint-unknown", f"nothing of {argument.name} is read: there is nothing to copy"
        )
    indices = [element_index(kernel, argument, read, element) for read, _ in uses.reads]
    reads = [(kernel.definition[read.name], index) for (read, _), index in zip(uses.reads, indices, strict=True)]
    box = Footprints(kernel, argument.name, sizes).of(reads)
    check_copied(f"a work-group reads {box.cells} elements of {argument.name}", box.cells * size_of(element))
    function = module.function(kernel.name)
    tile = tile_of(module, function.name, argument, element, box.cells)
    check_copied_whole(argument, element)
    copied = BoxCopy(module, function, argument, uses.reads, box, tile)
    share_at_start(module, function, argument.name, tile.count, copied.copy, copied.is_taken)


class BoxCopy:
    """Lets reads read an array's copy, and builds the copying of a cell; `given` as for the box.

    Args:
        module: that has the function.
        function: owned by the caller.
        argument: the array.
        reads: in it, each with the slot of the address.
        box: of these reads.
        tile: of the box; the padding of its rows is that of the innermost axis.
        given: see `Footprints`.
    """

    def __init__(
        self,
        module: Module,
        function: Function,
        argument: Argument,
        reads: Sequence[tuple[Instruction, int]],
        box: Footprint,
        tile: Tile,
        given: Collection[str] = (),
    ) -> None:
        self.array = argument.name
        self.tile = tile
        self._argument = argument
        self._code = _BoxCode(module, function, box, given, tile.pad)
        self._row = box.axes[-1].extent
        self._model = reads[box.model][0].operands[0]
        self.is_taken = self._code.is_taken
        for (read, _), spans in zip(reads, box.spans, strict=True):
            cell = self._code.cell_of_read(read, spans)
            allow_changes(read)
            read.set_operand(0, Builder.replacing(read).element(tile.element, tile.variable, [cell], "in_tile"))

    def copy(self, build: Builder, queries: Queries, cell: Operand) -> None:
        """Build the copying of a cell, by its number."""
        self.store(build, queries, cell, self.load(build, queries, cell))

    def load(self, build: Builder, queries: Queries, cell: Operand) -> Operand:
        """Build the load of a cell from the array."""
        source: Operand = self._argument
        if isinstance(self._model, Instruction):
            index = self._code.at_cell(build, queries, cell).index(self._model.operands[1])
            source = build.element(self.tile.word, self._argument, [index], "from")
        return build.load(self.tile.word, source, "word", Access(alignment_of(self.tile.word)))

    def store(self, build: Builder, queries: Queries, cell: Operand, value: Operand) -> None:
        """Build the store of a cell to the tile."""
        place = cell
        if self.tile.pad:
            row = build.binary(Opcode.UDIV, cell, queries.constant(self._row), "row")
            before = build.binary(Opcode.MUL, row, queries.constant(self.tile.pad), "before")
            place = build.binary(Opcode.ADD, cell, before, "place")
        target = build.element(self.tile.word, self.tile.variable, [place], "to")
        build.store(value, target, Access(alignment_of(self.tile.word)))


class _BoxCode:
    """Builds what a box needs in one function."""

    def __init__(
        self, module: Module, function: Function, box: Footprint, given: Collection[str], pad: int = 0
    ) -> None:
        self._module = module
        self._box = box
        self._pad = pad
        self._given = given
        names = {each.phi for spans in box.spans for span in spans for each, _ in span.counters}
        names |= {name for taking in box.takings for name, _ in taking.counters}
        conditions = {name for taking in box.takings for name, _ in taking.conditions}
        # What other copies are made by may be called the same as yet.
        own = {each.name: each for each in function.instructions() if each.has_unique_name}
        self._phis = {name: own[name] for name in names if own[name].opcode is Opcode.PHI}
        self._conditions = {name: own[name] for name in conditions}

    def cell_of_read(self, read: Instruction, spans: Sequence[Span]) -> Operand:
        """Build, before a read, the number of the cell that it takes."""
        queries, build = Queries(self._module), Builder.replacing(read)
        cell: Operand | None = None
        last = self._box.axes[-1]
        for axis, span in zip(self._box.axes, spans, strict=True):
            varying = [
                _times(build, queries, queries.ask(build, Query.LOCAL_ID, dimension), scale)
                for dimension, scale in span.ids
            ]
            varying += [
                _times(build, queries, self._wide(build, each.phi), scale) for each, scale in span.counters
            ]
            along = _total(build, queries, varying, span.offset - axis.least, "along")
            if cell is None:
                cell = along
            else:
                pitch = axis.extent + (self._pad if axis is last else 0)
                row = build.binary(Opcode.MUL, cell, queries.constant(pitch), "row")
                cell = build.binary(Opcode.ADD, row, along, "cell")
        queries.declare()
        assert cell is not None
        return cell

    def _wide(self, build: Builder, name: str) -> Operand:
        phi = self._phis[name]
        if phi.type == self._module.size_type:
            return phi
        is_wider = isinstance(phi.type, IntegerType) and phi.type.width > INDEX.width
        return build.cast(Opcode.TRUNC if is_wider else Opcode.SEXT, phi, self._module.size_type, "counter")

    def is_taken(self, build: Builder, queries: Queries, cell: Operand) -> Operand:
        """Build whether any read takes a cell."""
        along = self._places(build, queries, cell)
        found: Operand | None = None
        for taking in self._box.takings:
            taken: Operand | None = None
            carriers: dict[int | str, Operand] = {name: queries.constant(value) for name, value in taking.counters}
            for axis, place, span in zip(self._box.axes, along, taking.spans, strict=True):
                distance = _total(build, queries, [place], axis.least - span.least, "distance")
                inside = self._is_inside(build, queries, distance, span)
                taken = inside if taken is None else build.binary(Opcode.AND, taken, inside, "taken")
                for dimension, scale in span.ids if taking.conditions else ():
                    carriers[dimension] = _over(build, queries, distance, scale)
            assert taken is not None
            reader = _AtCell(build, queries, carriers, frozenset(self._phis), self._given, is_reader=True)
            for name, is_true in taking.conditions:
                met = reader.operand(self._conditions[name])
                met = met if is_true else build.binary(Opcode.XOR, met, number(met.type, 1), "not")
                taken = build.binary(Opcode.AND, taken, met, "taken")
            found = taken if found is None else build.binary(Opcode.OR, found, taken, "any")
        assert found is not None
        return found

    def _is_inside(self, build: Builder, queries: Queries, distance: Operand, span: Span) -> Operand:
        """Compare a distance from a read's first place along an axis with its places, in a group of any size."""
        sizes = [
            _times(build, queries, queries.ask(build, Query.LOCAL_SIZE, dimension), scale)
            for dimension, scale in span.ids
        ]
        counted = sum(scale * (each.greatest - each.least) for each, scale in span.counters)
        count = _total(build, queries, sizes, 1 + counted - sum(scale for _, scale in span.ids), "count")
        inside = build.compare("ult", distance, count, "inside")
        # A read may stay where it is along an axis.
        step = min((scale for _, scale in (*span.ids, *span.counters)), default=1)
        if step == 1:
            return inside
        left = build.binary(Opcode.UREM, distance, queries.constant(step), "between")
        is_step = build.compare("eq", left, queries.constant(0), "is.step")
        return build.binary(Opcode.AND, inside, is_step, "taken")

    def _places(self, build: Builder, queries: Queries, cell: Operand) -> list[Operand]:
        """The places of a cell along the axes, each from 0 on."""
        left = cell
        found: list[Operand] = []
        for axis in reversed(self._box.axes):
            extent = queries.constant(axis.extent)
            found.append(build.binary(Opcode.UREM, left, extent, "along"))
            left = build.binary(Opcode.UDIV, left, extent, "left")
        return found[::-1]

    def at_cell(self, build: Builder, queries: Queries, cell: Operand) -> _AtCell:
        """Return what computes values anew as the model read would at a cell."""
        carriers: dict[int | str, Operand] = {}
        rests: list[tuple[Polynomial, Operand]] = []
        spans = self._box.spans[self._box.model]
        for axis, place, span in zip(self._box.axes, self._places(build, queries, cell), spans, strict=True):
            carrier, step = span.carrier
            distance = axis.least - span.offset
            if step == 1:
                carriers[carrier] = _total(build, queries, [place], distance, "at")
                continue
            # Whole steps, rounded down, and the cells beyond the last one.
            rounds = max(0, -(distance // step))
            moved = _total(build, queries, [place], distance + rounds * step, "moved")
            steps = _over(build, queries, moved, step)
            carriers[carrier] = _total(build, queries, [steps], -rounds, "at")
            rests.append((axis.factor, build.binary(Opcode.UREM, moved, queries.constant(step), "rest")))
        return _AtCell(build, queries, carriers, frozenset(self._phis), self._given, rests)


def _times(build: Builder, queries: Queries, value: Operand, scale: int) -> Operand:
    """Build a value times a number."""
    return value if scale == 1 else build.binary(Opcode.MUL, value, queries.constant(scale), "scaled")


def _over(build: Builder, queries: Queries, value: Operand, scale: int) -> Operand:
    """Build a value divided by a number."""
    return value if scale == 1 else build.binary(Opcode.UDIV, value, queries.constant(scale), "steps")


def _total(build: Builder, queries: Queries, operands: Sequence[Operand], constant: int, name: str) -> Operand:
    """Build the sum of values and a number."""
    if not operands:
        return queries.constant(constant)
    total = operands[0]
    for operand in operands[1:]:
        total = build.binary(Opcode.ADD, total, operand, name)
    return total if not constant else build.binary(Opcode.ADD, total, queries.constant(constant), name)


class _AtCell:
    """Computes a value where boxes are copied, with other ids and counters than a work-item has.

    Args:
        build: where.
        queries: asked for ids.
        carriers: for an id in the group, by its dimension, and for a counter, by its name; 0 stands for others.
        counters: names of phis.
        given: names of values that are known there, and the same for all work-items of a group.
        rests: cells beyond the one of the ids and counters, each with what a cell adds to the index.
        is_reader: whether these are the ids and counters of a work-item that may read the cell.
    """

    def __init__(
        self,
        build: Builder,
        queries: Queries,
        carriers: Mapping[int | str, Operand],
        counters: frozenset[str],
        given: Collection[str],
        rests: Sequence[tuple[Polynomial, Operand]] = (),
        *,
        is_reader: bool = False,
    ) -> None:
        self._build = build
        self._queries = queries
        self._carriers = carriers
        self._counters = counters
        self._given = given
        self._rests = rests
        self._is_reader = is_reader
        self._made: dict[Instruction, Operand] = {}

    def index(self, original: Operand) -> Operand:
        """Build an index, the extension of which is as it was."""
        if not isinstance(original, Instruction) or original.opcode not in _EXTENSIONS:
            return self._beyond(self.operand(original))
        core = self._beyond(self.operand(original.operands[0]))
        opcode = Opcode.SEXT if is_signed(original) else original.opcode
        cast = Instruction(opcode, original.type, [core], original.name, origin=Origin())
        return self._build.insert(cast)

    def _beyond(self, core: Operand) -> Operand:
        """Add the cells that lie beyond whole steps, each times what a cell adds to the core."""
        for factor, cells in self._rests:
            [(product, coefficient)] = factor.terms.items()
            added = self._of_type(cells, core.type)
            added = self._build.binary(Opcode.MUL, added, number(core.type, coefficient), "beyond")
            for symbol in product:
                # Forms look through truncations.
                value = self._of_type(self._called(symbol.removeprefix("%")), core.type)
                added = self._build.binary(Opcode.MUL, added, value, "beyond")
            core = self._build.binary(Opcode.ADD, core, added, "cell.at")
        return core

    def _of_type(self, value: Operand, type_: Type) -> Operand:
        """A number as one of another type, which is not wider."""
        return value if value.type == type_ else self._build.cast(Opcode.TRUNC, value, type_, "cells")

    def _called(self, name: str) -> Operand:
        """An argument, or a value that is given, by its name."""
        function = self._build.block.function
        assert isinstance(function, Function)
        arguments = (each for each in function.arguments if each.name == name)
        given = (each for each in function.instructions() if each.has_unique_name and each.name == name)
        return next(itertools.chain(arguments, given))

    def operand(self, original: Operand) -> Operand:
        """Build the value of an operand."""
        if not isinstance(original, Instruction) or original.name in self._given:
            return original
        if original not in self._made:
            self._made[original] = self._instruction(original)
        return self._made[original]

    def _instruction(self, original: Instruction) -> Operand:
        query = query_named(original.callee) if original.opcode is Opcode.CALL else None
        dimension = queried_dimension(original) if query is not None else None
        is_known = query in UNIFORM_QUERIES or query in (Query.GLOBAL_ID, Query.LOCAL_ID)
        if query is not None and dimension is not None and 0 <= dimension < DIMENSIONS and is_known:
            return self._query(query, dimension)
        if original.opcode is Opcode.PHI and original.name in self._counters:
            return self._counter(original)
        if is_clamp(original):
            return self._like(original, Opcode.CALL)
        if str(original.opcode) not in PURE_CONDITIONS:
            # It cancels out, or the footprint would not be known.
            return number(original.type, 0)
        extended = original.operands[0]
        if (
            original.opcode is Opcode.ZEXT
            and not self._is_reader
            and isinstance(extended, Instruction)
            and extended.name in self._counters
        ):
            # The counter is never negative; one that stands for a cell may be.
            return self._like(original, Opcode.SEXT)
        # A sum of numbers without a common bit is one of any; and flags hold for the ids that there are.
        is_sum = original.opcode is Opcode.OR and "disjoint" in original.flags
        return self._like(original, Opcode.ADD if is_sum else original.opcode)

    def _like(self, original: Instruction, opcode: Opcode) -> Operand:
        operands = [self.operand(each) for each in original.operands]
        made = Instruction(opcode, original.type, operands, original.name, detail=original.detail, origin=Origin())
        return self._build.insert(made)

    def _query(self, query: Query, dimension: int) -> Operand:
        if query in (Query.GLOBAL_ID, Query.LOCAL_ID):
            own = self._carriers.get(dimension, self._queries.constant(0))
            if query is Query.LOCAL_ID:
                return own
            place = self._queries.ask(self._build, Query.GLOBAL_ID, dimension)
            start = self._build.binary(
                Opcode.SUB, place, self._queries.ask(self._build, Query.LOCAL_ID, dimension), "start"
            )
            return self._build.binary(Opcode.ADD, start, own, "at")
        return self._queries.ask(self._build, query, dimension)

    def _counter(self, phi: Instruction) -> Operand:
        value = self._carriers.get(phi.name)
        if value is None:
            return number(phi.type, 0)
        is_same = phi.type == self._queries.integer
        return value if is_same else self._build.cast(Opcode.TRUNC, value, phi.type, "counter")
