"""Tiles for the inner loops of a kernel: which loops and arrays, and why not the others.

    every innermost loop ─▶ cut into strips, on trial ─▶ each array that it reads: its box before a strip
    loops with a box     ─▶ cut into strips ─▶ normal form ─▶ boxes copied before each strip (`chunks.py`)
    loops under a guard  ─▶ once more for groups of which all work-items are inside (`together.py`) ─▶ as above

An array is copied if the kernel only reads it, if what a strip reads of it is a box, and if the group reads each
element of the box at least twice: else nothing is saved. What the kernel writes must be other memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.distinct_arguments import ArgumentPairs
from coarsen.analysis.divergence import Divergence
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction, users
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Argument, Named
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import AddressSpace, PointerType, size_of
from coarsen.transform.distinct import apart_in_words
from coarsen.transform.layouts.elements import array_argument, element_type
from coarsen.transform.placement.boxes import Footprint
from coarsen.transform.placement.chunks import (
    Box,
    GroupFlow,
    StripOfKernel,
    boxes_before_strip,
    copy_before_strip,
    is_in,
    strips_of,
)
from coarsen.transform.placement.strips import innermost_loops, strip_mined
from coarsen.transform.placement.tile import check_copied_whole
from coarsen.transform.placement.together import copied_for_whole_groups
from coarsen.transform.placement.uses import apart_from, check_alignment, uses_of
from coarsen.transform.prologue import INDEX

# The local memory that every device of OpenCL's full profile has (OpenCL 1.2, table 4.3).
MOST_BYTES = 32768
# Fewer reads of each element save nothing.
_LEAST_READS = 2.0
# Of one in the other.
_MOST_GUARDS = 2
_NOT_NAMED = "the tile names other arrays"
# Brings a module into normal form.
Renew = Callable[[Module], Kernel]
# How many elements to add to each row of a box, for work-groups of a size and elements of so many bytes.
Padding = Callable[[Footprint, Sequence[int], int], int]


@dataclass(frozen=True, slots=True)
class CopiedArray:
    """An array that is copied before each strip of a loop, or why it is not.

    Attributes:
        array: its argument's name.
        loop: the position of the loop in the source; empty where it is unknown.
        elements: that a strip reads; 0 where it is not copied.
        bytes: that the copy takes in local memory.
        pad: elements that are added to each of its rows.
        reads: of each element by the work-group, in the mean.
        saved: bytes that a work-group does not load for each copy.
        why_not: a sentence; empty where it is copied.
    """

    array: str
    loop: str
    elements: int = 0
    bytes: int = 0
    pad: int = 0
    reads: float = 0.0
    saved: int = 0
    why_not: str = ""

    @property
    def sentence(self) -> str:
        """Say what is done."""
        where = f"in the loop at {self.loop}" if self.loop else "in a loop"
        if self.why_not:
            return f"{self.array} is read from global memory {where}: {self.why_not}"
        reads = f"read {self.reads:.3g} times each by a work-group"
        pad = f"rows padded by {self.pad}, " if self.pad else ""
        copied = f"{self.elements} elements ({self.bytes} bytes), {pad}{reads}: {self.saved} bytes are saved"
        return f"{self.array} is copied {where}: {copied}"


@dataclass(frozen=True, slots=True)
class TiledLoops:
    """A kernel with tiles inside of its loops.

    Attributes:
        kernel: in normal form.
        arrays: that its loops read.
        apart: pairs of arguments, by index, that must not lead to the same memory.
    """

    kernel: Kernel
    arrays: tuple[CopiedArray, ...]
    apart: ArgumentPairs

    def assumptions(self) -> Iterator[str]:
        """Say in words what is taken for granted."""
        return apart_in_words(self.apart, self.kernel.argument_names)


def tile_loops(
    kernel: Kernel, trips: int, renew: Renew, padding: Padding | None = None, arrays: Sequence[str] = ()
) -> TiledLoops:
    """Let each work-group copy what so many trips of inner loops read into local memory.

    Args:
        kernel: in normal form, coarsened, with the local size that it demands.
        trips: between two copies, at least 2.
        renew: brings a module that the caller owns into normal form.
        padding: says how many elements to add to each row of a copy; None for no such elements.
        arrays: names of the arguments whose arrays are copied; none for all that can be.

    Raises:
        RefusalError: `place-extent-unknown` without a local size; where no loop gets a tile, the first reason.
        InvalidInputError: addresses have other than 64 bits; an array that is none.
    """
    for name in arrays:
        array_argument(kernel, name, AddressSpace.GLOBAL)
    if kernel.required_work_group_size is None:
        reason = "how much a work-group reads is not known: give the launch's local size (--local-size)"
        raise RefusalError("place-extent-unknown", reason)
    if kernel.graph.size_type != INDEX:
        raise InvalidInputError("loops get tiles only in kernels with addresses of 64 bits")
    tiler = _Tiler(trips, renew, padding or (lambda *_: 0), arrays)
    chosen, refusals = tiler.chosen(kernel)
    for _ in range(_MOST_GUARDS):
        if chosen or not any(each.code == "tile-not-together" for each in refusals):
            break
        guarded = _for_whole_groups(kernel, renew)
        if guarded is None:
            break
        kernel = guarded
        chosen, refusals = tiler.chosen(kernel)
    if not chosen:
        reason = (
            "no loop counts by a number up to a bound that stays the same: there is nothing to cut into strips"
        )
        # Where a guard was the only hindrance, what else there is says more.
        refusals.sort(key=lambda refusal: refusal.code == "tile-not-together")
        raise refusals[0] if refusals else RefusalError("tile-loop-unknown", reason)
    return tiler.tiled(kernel, chosen)


def _bytes_left(kernel: Kernel) -> int:
    """The local memory that a kernel's own local variables leave."""
    own = (each for each in kernel.globals.values() if each.address_space == AddressSpace.LOCAL)
    return MOST_BYTES - sum(size_of(each.value_type) for each in own)


def _for_whole_groups(kernel: Kernel, renew: Renew) -> Kernel | None:
    """Return the kernel with what is under a guard once more, for groups that go there together; None without one.

    The guard is the outermost one around a loop.
    """
    module = kernel.editable_graph()
    function = module.function(kernel.name)
    flow = ControlFlow(kernel)
    divergence = Divergence(kernel, 0, flow, every_dimension=True)
    blocks = {block.name: block for block in function.blocks}
    headers = [counted.header.name for counted in innermost_loops(function)]
    partings = {header: flow.controlling(header) & divergence.branches for header in headers}
    # Under the fewest conditions first: where merged work-items part there are more.
    for header in sorted(filter(partings.__getitem__, headers), key=lambda header: len(partings[header])):
        around = [name for name in partings[header] if not flow.controlling(name) & divergence.branches]
        for name in sorted(around):
            inside = [target for target in flow.successors(name) if flow.dominates(target, header)]
            if len(inside) != 1:
                continue
            with suppress(RefusalError):
                copied_for_whole_groups(module, function, flow, blocks[name], blocks[inside[0]])
                make_names_unique(function, module.structures)
                return renew(module)
    return None


class _Tiler:
    """Gives loops tiles of so many trips; arguments as for `tile_loops`."""

    def __init__(self, trips: int, renew: Renew, padding: Padding, arrays: Sequence[str]) -> None:
        self._trips = trips
        self._arrays = arrays
        self._renew = renew
        self._padding = padding
        self._left_out: list[CopiedArray] = []

    def chosen(self, kernel: Kernel) -> tuple[list[int], list[RefusalError]]:
        """Return the places of the loops that get a tile, among the innermost ones, and why others don't."""
        refusals: list[RefusalError] = []
        loops, flow = innermost_loops(kernel.graph.function(kernel.name)), GroupFlow(kernel)
        chosen, left = [], _bytes_left(kernel)
        self._left_out = []
        for place, counted in enumerate(loops):
            try:
                flow.check_together(counted.header.name)
                left -= self._bytes_of_tile(kernel, place, left)
                chosen.append(place)
            except RefusalError as refusal:
                refusals.append(refusal)
        return chosen, refusals

    def tiled(self, kernel: Kernel, places: list[int]) -> TiledLoops:
        """Give some of the innermost loops, by their places, their tiles."""
        tiled = self._in_strips(kernel, places)
        arrays = [*self._left_out]
        pairs: set[tuple[int, int]] = set()
        tiles: set[str] = set()
        left = _bytes_left(tiled)
        for place in range(len(places)):
            strip = list(strips_of(tiled))[place]
            given = GroupFlow(tiled, tiles).same_before(strip)
            boxes, notes = self._boxes(tiled, strip, given, left)
            arrays += notes
            left -= sum(note.bytes for note in notes)
            if not boxes:
                continue
            module = tiled.editable_graph()
            function = module.function(tiled.name)
            tiles |= copy_before_strip(tiled, module, strip, boxes, given)
            names = [each.name for each in function.arguments]
            for box in boxes:
                apart = apart_from(module, function, function.arguments[names.index(box.array)])
                pairs |= {(names.index(box.array), names.index(other)) for other in apart}
            make_names_unique(function, module.structures)
            tiled = self._renew(module)
        return TiledLoops(tiled, tuple(arrays), tuple(sorted(pairs)))

    def _bytes_of_tile(self, kernel: Kernel, place: int, left: int) -> int:
        """The local memory that a loop's tile takes, of so much; raises RefusalError where it gets none."""
        tried = self._in_strips(kernel, [place])
        strip = next(strips_of(tried), None)
        if strip is None:
            raise RefusalError("tile-loop-unknown", f"the loop has fewer than {self._trips} trips")
        flow = GroupFlow(tried)
        flow.check_together(strip.loop.header)
        given = flow.same_before(strip)
        boxes, notes = self._boxes(tried, strip, given, left)
        if not boxes:
            self._left_out += notes
            none = f"the loop reads no array that {'the tile names' if self._arrays else 'the kernel only reads'}"
            found = (note.why_not for note in notes if note.why_not != _NOT_NAMED)
            raise RefusalError("place-footprint-unknown", next(found, none))
        return sum(box.bytes for box in boxes)

    def _in_strips(self, kernel: Kernel, places: list[int]) -> Kernel:
        """Cut some of the innermost loops into strips."""
        module = kernel.editable_graph()
        function = module.function(kernel.name)
        loops = innermost_loops(function)
        for place in places:
            strip_mined(function, loops[place], self._trips)
        make_names_unique(function, module.structures)
        return self._renew(module)

    def _boxes(
        self, kernel: Kernel, strip: StripOfKernel, given: frozenset[str], left: int
    ) -> tuple[list[Box], list[CopiedArray]]:
        """The boxes that are copied before a strip, in so many bytes, and what is said of all arrays it reads."""
        sizes = kernel.required_work_group_size
        assert sizes is not None
        function = kernel.graph.function(kernel.name)
        position = str(kernel.block[strip.loop.header].terminator.position or "")
        boxes: list[Box] = []
        notes: list[CopiedArray] = []
        for argument in function.arguments:
            if argument.type != PointerType(AddressSpace.GLOBAL):
                continue
            if not any(is_in(user, strip.loop) for user in _accesses(argument)):
                continue
            if self._arrays and argument.name not in self._arrays:
                notes.append(CopiedArray(argument.name, position, why_not=_NOT_NAMED))
                continue
            try:
                found = _boxes_of(kernel, function, argument, strip, given)
            except RefusalError as refusal:
                notes.append(CopiedArray(argument.name, position, why_not=refusal.reason))
                continue
            for box in found:
                made = math.prod(sizes) * self._trips * len(box.reads)
                reads = made / box.footprint.cells
                why_not = ""
                if reads < _LEAST_READS:
                    why_not = f"the work-group reads each element {reads:.3g} times in {self._trips} trips"
                else:
                    box = self._padded(box, sizes, left)
                if not why_not and box.bytes > left:
                    why_not = f"it would take {box.bytes} bytes of local memory, of {left} that are left"
                if why_not:
                    notes.append(CopiedArray(argument.name, position, why_not=why_not))
                    continue
                left -= box.bytes
                boxes.append(box)
                cells = box.footprint.cells
                saved = (made - cells) * size_of(box.element)
                notes.append(CopiedArray(argument.name, position, cells, box.bytes, box.pad, reads, saved))
        return boxes, notes

    def _padded(self, box: Box, sizes: Sequence[int], left: int) -> Box:
        """A box with rows that are padded, if there is room for that."""
        padded = replace(box, pad=self._padding(box.footprint, sizes, size_of(box.element)))
        return padded if padded.bytes <= left else box


def _boxes_of(
    kernel: Kernel, function: Function, argument: Argument, strip: StripOfKernel, given: frozenset[str]
) -> list[Box]:
    """The boxes that a strip reads of an array."""
    uses = uses_of(argument)
    apart_from(kernel.graph, function, argument)
    declared = next(each for each in kernel.arguments if each.name == argument.name)
    element = element_type(declared, argument, kernel.graph.structures).type
    check_copied_whole(argument, element)
    check_alignment(argument.name, uses, size_of(element))
    return boxes_before_strip(kernel, strip, argument, uses, element, given)


def _accesses(argument: Argument) -> Iterator[Instruction]:
    """Yield what uses an array's address, or one that is computed from it."""
    waiting: list[Named] = [argument]
    while waiting:
        for user in users(waiting.pop()):
            yield user
            if user.opcode is Opcode.GETELEMENTPTR:
                waiting.append(user)
