"""The copy of an array that a work-group makes in local memory before the kernel begins.

    kernel void f(…, global const float *w)          local float w_tile[9];
    {                                                for (base = 0; base < 9; base += items in the group)
        body, reads w                                    if (base + local linear id < 9)
    }                                                        w_tile[…] = w[…];
                                                     barrier(CLK_LOCAL_MEM_FENCE);
                                                     body, reads w_tile

All work-items of a group pass the kernel's start, so they meet at the barrier, whatever they do later, and all
that reads comes after it. The loop's trip count is the same for all of them. It reads the elements that the
array has, as a launch has to keep to, and nothing beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coarsen.errors import RefusalError
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Access, Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Operand, Variable
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.rewriting import split_entry
from coarsen.ir.opencl.queries import DIMENSIONS, Query, mangled_name
from coarsen.ir.types import (
    AddressSpace,
    ArrayType,
    FloatType,
    IntegerType,
    Type,
    VoidType,
    alignment_of,
    content_bytes,
    scalar,
    size_of,
)
from coarsen.transform.prologue import Queries

_BARRIER = mangled_name("barrier", "j")
_CONVERGENT = "convergent nounwind"
_FLAGS = IntegerType(32)
_LOCAL_MEMORY = number(_FLAGS, 1)
_BITS = 8
_LONGEST_WORD = 8
# More would leave too little of a device's local memory to the work-groups beside it.
_LARGEST_COPY = 16384
_FLOATS = frozenset({FloatType("float"), FloatType("double")})

# Builds one of several copies, by its number.
Copy = Callable[[Builder, Queries, Operand], None]


def check_copied(said: str, size: int) -> None:
    """Raise RefusalError, `place-too-large`, for more bytes than are copied."""
    if size > _LARGEST_COPY:
        raise RefusalError("place-too-large", f"{said}, more than the {_LARGEST_COPY} bytes that it copies")


@dataclass(frozen=True)
class Tile:
    """An array's copy: its variable, its elements, the words that are copied and how many, the pad of a row."""

    variable: Variable
    element: Type
    word: Type
    count: int
    pad: int = 0


def tile_of(
    module: Module, kernel: str, argument: Argument, element: Type, count: int, row: int = 1, pad: int = 0
) -> Tile:
    """Add the variable that an array is copied to.

    Args:
        module: that the caller owns.
        kernel: its name.
        argument: of the array.
        element: of the array.
        count: of its elements.
        row: how many of these make a row.
        pad: elements that are added to each row.
    """
    array = ArrayType(count + count // row * pad, element)
    alignment = alignment_of(element)
    name = f"{kernel}.{argument.name}_tile"
    while name in module.variables or name in module.callees:
        name += "_"
    definition = f"internal addrspace({AddressSpace.LOCAL}) global {array} undef, align {alignment}"
    variable = module.variables[name] = Variable(name, AddressSpace.LOCAL, definition)
    word = _word(element)
    return Tile(variable, element, word, count * (size_of(element) // size_of(word)), pad)


def _word(element: Type) -> Type:
    """Return what is copied at once: a number or vector, or the longest whole number for a record."""
    is_whole = content_bytes(element) == size_of(element)
    number_ = scalar(element)
    # Numbers that a device may know in memory only are copied as whole ones.
    is_known = isinstance(number_, IntegerType) or number_ in _FLOATS
    if is_whole and is_known:
        return element
    return IntegerType(_BITS * min(alignment_of(element), _LONGEST_WORD))


def check_copied_whole(argument: Argument, element: Type) -> None:
    """Raise RefusalError, `place-footprint-unknown`, for elements that no single copy takes."""
    if size_of(_word(element)) != size_of(element):
        reason = f"what a work-group reads of {argument.name} isn't copied as a whole: its elements are no numbers"
        raise RefusalError("place-footprint-unknown", reason)


def copy_at_start(module: Module, function: Function, argument: Argument, tile: Tile) -> None:
    """Build the copy of a whole array at a kernel's start.

    Args:
        module: that has the function.
        function: owned by the caller.
        argument: the array.
        tile: to which it is copied.
    """

    def copy(build: Builder, _: Queries, place: Operand) -> None:
        access = Access(alignment_of(tile.word))
        value = build.load(tile.word, build.element(tile.word, argument, [place], "from"), "word", access)
        build.store(value, build.element(tile.word, tile.variable, [place], "to"), access)

    share_at_start(module, function, argument.name, tile.count, copy)


def share_at_start(
    module: Module,
    function: Function,
    array: str,
    count: int,
    copy: Copy,
    is_taken: Callable[[Builder, Queries, Operand], Operand] | None = None,
) -> None:
    """Let the work-items of a group share out numbered copies at a kernel's start, and meet.

    Args:
        module: that has the function.
        function: owned by the caller.
        array: what blocks are called by.
        count: of the copies.
        copy: builds one of them, by its number.
        is_taken: builds whether it is to be made; None for all.
    """
    entry = function.entry
    body = split_entry(function, f"{entry.name}.body")
    build = Builder(entry, Origin())
    share(module, function, array, count, copy, is_taken, build)
    build.branch(body)


def share(
    module: Module,
    function: Function,
    array: str,
    count: int,
    copy: Copy,
    is_taken: Callable[[Builder, Queries, Operand], Operand] | None,
    build: Builder,
    *,
    meets: bool = True,
) -> None:
    """Let the work-items of a group share out numbered copies at a place that they all come to, and meet.

    Args:
        module: that has the function.
        function: owned by the caller.
        array: what blocks are called by.
        count: of the copies.
        copy: builds one of them, by its number.
        is_taken: builds whether it is to be made; None for all.
        build: at the end of a block without a branch; it goes on where the copies are made.
        meets: whether they wait for each other then.
    """
    entry, origin = build.block, build.origin
    names = ("copying", "each", "asked", "copy", "next", "copied")
    header, inside, asked, copying, latch, done = (Block(f"{name}.{array}", origin) for name in names)
    if is_taken is None:
        asked = copying
    after = entry
    for block in dict.fromkeys((header, inside, asked, copying, latch, done)):
        function.add_after(after, block)
        after = block
    queries = Queries(module)
    item, items = _item_and_items(build, queries)
    build.branch(header)
    base = build.at_end(header).phi(queries.integer, [(queries.constant(0), entry)], "base")
    build.branch_if(build.compare("ult", base, queries.constant(count), "more"), inside, done)
    place = build.at_end(inside).binary(Opcode.ADD, base, item, "place")
    build.branch_if(build.compare("ult", place, queries.constant(count), "inside"), asked, latch)
    if is_taken is not None:
        build.branch_if(is_taken(build.at_end(asked), queries, place), copying, latch)
    copy(build.at_end(copying), queries, place)
    build.branch(latch)
    base.add_incoming(build.at_end(latch).binary(Opcode.ADD, base, items, "base.next"), latch)
    build.branch(header)
    build.at_end(done)
    if meets:
        meet(build, module)
    queries.declare()


def _item_and_items(build: Builder, queries: Queries) -> tuple[Operand, Operand]:
    """The number of a work-item in its group, over all dimensions, and how many the group has."""
    last = DIMENSIONS - 1
    item: Operand = queries.ask(build, Query.LOCAL_ID, last)
    items: Operand = queries.ask(build, Query.LOCAL_SIZE, last)
    for dimension in reversed(range(last)):
        size = queries.ask(build, Query.LOCAL_SIZE, dimension)
        row = build.binary(Opcode.MUL, item, size, "row")
        item = build.binary(Opcode.ADD, row, queries.ask(build, Query.LOCAL_ID, dimension), "item")
        items = build.binary(Opcode.MUL, items, size, "items")
    return item, items


def meet(build: Builder, module: Module) -> None:
    """Let the work-items of a group wait for each other, and see what was written to local memory."""
    declaration = f"declare spir_func void @{_BARRIER}(i32) {_CONVERGENT}"
    build.call(module.callee(_BARRIER, declaration), VoidType(), [_LOCAL_MEMORY], attributes=_CONVERGENT)
