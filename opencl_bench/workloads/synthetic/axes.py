"""The axes along which synthetic kernels differ, each a small set of values.

Every axis stands for a mechanism by which coarsening helps or harms: how loads fall into cache lines, what is
loaded again by the neighbour, how much work is guarded, whether neighbours take the same path through a loop.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from coarsen.opencl_bench.workloads.benchmark import LocalSize


class Access(enum.StrEnum):
    """The element that a work-item reads."""

    COALESCED = "coalesced"
    STRIDED = "strided"
    RECORDS = "records"
    TRANSPOSED = "transposed"
    BROADCAST = "broadcast"
    GATHER_NEAR = "gather_near"
    GATHER_FAR = "gather_far"
    STENCIL = "stencil"
    ROW_PER_ITEM = "row_per_item"
    BLOCK_CYCLIC = "block_cyclic"


class Loop(enum.StrEnum):
    """The loop that repeats the reading; the divergent ones have a trip count of each work-item's own."""

    NONE = "none"
    CONSTANT = "constant"
    ARGUMENT = "argument"
    NESTED = "nested"
    DIVERGENT_DATA = "divergent_data"
    DIVERGENT_ID = "divergent_id"
    LOCAL_STRIDE = "local_stride"
    GRID_STRIDE = "grid_stride"


class LocalMemory(enum.StrEnum):
    """The use of local memory.

    `tile`: elements are staged and read by a neighbour. `table`: a small table is staged once. `tree` and
    `serial`: a work-group's results become one. `haar`, `exchange`, `scan`: levels of butterflies, or of a prefix
    sum.
    """

    NONE = "none"
    TILE = "tile"
    TABLE = "table"
    TREE = "tree"
    SERIAL = "serial"
    HAAR = "haar"
    EXCHANGE = "exchange"
    SCAN = "scan"


class Store(enum.StrEnum):
    """The place of the results; `in_place` reads what is there before."""

    COALESCED = "coalesced"
    TRANSPOSED = "transposed"
    STRIDED = "strided"
    PERMUTED = "permuted"
    IN_PLACE = "in_place"
    PER_GROUP = "per_group"


class Guard(enum.StrEnum):
    """The condition that keeps work-items from working."""

    NONE = "none"
    SIZE = "size"
    EARLY_RETURN = "early_return"
    DATA = "data"
    INTERIOR = "interior"


class Reuse(enum.StrEnum):
    """Along which dimensions of the NDRange a second operand is the same for neighbours."""

    NONE = "none"
    ALONG_0 = "along_0"
    ALONG_1 = "along_1"
    EVERYWHERE = "everywhere"


class Element(enum.StrEnum):
    """The OpenCL C type of what is read and written; `uchar4` is computed with as `float4`."""

    FLOAT = "float"
    INT = "int"
    FLOAT4 = "float4"
    UINT4 = "uint4"
    UCHAR4 = "uchar4"


class Arithmetic(enum.StrEnum):
    """The computation on an element."""

    MULTIPLY_ADD = "multiply_add"
    INTEGER = "integer"
    SQUARE_ROOT = "square_root"
    EXPONENTIAL = "exponential"
    TRIGONOMETRIC = "trigonometric"


OPERATIONS = (0, 2, 8, 24, 64)
LOCAL_SIZES: tuple[LocalSize, ...] = ((64,), (128,), (256,), (16, 16), (8, 8), (32, 8), (64, 4))

UNIFORM_LOOPS = frozenset({Loop.CONSTANT, Loop.ARGUMENT, Loop.NESTED})
DIVERGENT_LOOPS = frozenset({Loop.DIVERGENT_DATA, Loop.DIVERGENT_ID})
# Loops over an item's own elements, which are counted by a trip number.
TRIP_LOOPS = UNIFORM_LOOPS | DIVERGENT_LOOPS
# Loops whose variable decides which element of the problem is read.
ELEMENT_LOOPS = frozenset({Loop.LOCAL_STRIDE, Loop.GRID_STRIDE})
GATHERS = frozenset({Access.GATHER_NEAR, Access.GATHER_FAR})
REDUCTIONS = frozenset({LocalMemory.TREE, LocalMemory.SERIAL})
# What happens in local memory after every item has its result.
LEVELS = REDUCTIONS | {LocalMemory.HAAR, LocalMemory.EXCHANGE, LocalMemory.SCAN}
WHOLE_NUMBERS = frozenset({Element.INT, Element.UINT4})


@dataclass(frozen=True, slots=True)
class Axes:
    """A value of each axis. The order is that in which values are kept where two don't go together.

    `operations`: the approximate number of arithmetic operations on each element.
    """

    access: Access
    local_memory: LocalMemory
    loop: Loop
    local_size: LocalSize
    store: Store
    element: Element
    guard: Guard
    reuse: Reuse
    arithmetic: Arithmetic
    operations: int

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the NDRange."""
        return len(self.local_size)


# The values of each axis as often as they are drawn: what is common in real kernels is drawn more often.
AXIS_VALUES: dict[str, tuple[object, ...]] = {
    "access": (*Access, Access.COALESCED, Access.BROADCAST),
    "local_memory": (*LocalMemory, *5 * [LocalMemory.NONE], LocalMemory.TILE, LocalMemory.TREE),
    "loop": (*Loop, *2 * [Loop.NONE], Loop.ARGUMENT, Loop.GRID_STRIDE),
    "local_size": (*LOCAL_SIZES, (16, 16)),
    "store": (*Store, *3 * [Store.COALESCED], Store.TRANSPOSED, Store.IN_PLACE),
    "element": (*Element, *3 * [Element.FLOAT], Element.FLOAT4),
    "guard": (*Guard, *2 * [Guard.NONE], Guard.SIZE),
    "reuse": (*Reuse, *2 * [Reuse.NONE]),
    "arithmetic": (*Arithmetic, *2 * [Arithmetic.MULTIPLY_ADD]),
    "operations": (*OPERATIONS, 2, 8),
}
