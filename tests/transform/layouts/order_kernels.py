"""Kernels on arrays in another order, whose indices are split into coordinates, or must not be.

Each writes elements of `to` from those of `from`; its index is what a proof needs, or nearly so.
A launch may tell the kernel other extents than the arrays have.
"""

from __future__ import annotations

from dataclasses import dataclass

HEAD = "kernel void k(global int *to, global const int *from"


@dataclass(frozen=True)
class OrderLaunch:
    """A launch: the arrays' shape, the kernel's numbers of so many bits, the global size and its offset."""

    shape: tuple[int, ...]
    numbers: tuple[int, ...]
    size: tuple[int, ...]
    offset: tuple[int, ...] | None = None
    bits: int = 32


@dataclass(frozen=True)
class OrderKernel:
    """A kernel.

    Attributes:
        name: of the test.
        source: defines the kernel `k`.
        is_split: whether all of its indices are split into coordinates.
        launches: each of which accesses nothing outside of its arrays.
        ir: the same kernel as LLVM IR, where that is what is rewritten.
    """

    name: str
    source: str
    is_split: bool
    launches: tuple[OrderLaunch, ...]
    ir: str = ""

    @property
    def rewritten(self) -> str:
        """What is rewritten."""
        return self.ir or self.source


def _guarded(type_: str) -> str:
    return f"""{HEAD}, {type_} height, {type_} width) {{
    {type_} x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    to[y * width + x] = from[y * width + x] + 1;
}}"""


# As the arrays are; rows left out; rows of other lengths, so that elements are others than their coordinates say.
_TOLD = (
    OrderLaunch((6, 10), (6, 10), (16, 8)),
    OrderLaunch((6, 10), (4, 10), (16, 8)),
    OrderLaunch((6, 10), (3, 20), (24, 8)),
    OrderLaunch((6, 10), (12, 5), (8, 16)),
    OrderLaunch((6, 10), (7, 8), (8, 8)),
    OrderLaunch((1, 60), (2, 30), (32, 4)),
    OrderLaunch((60, 1), (2, 30), (32, 4)),
)

KERNELS = (
    OrderKernel("unsigned_guards", _guarded("uint"), True, _TOLD),
    OrderKernel("signed_guards", _guarded("int"), True, _TOLD),
    OrderKernel("wide_guards", _guarded("ulong").replace(", ulong", ", uint"), True, _TOLD),
    OrderKernel(
        "row_of_a_loop",
        f"""{HEAD}, int height, int width) {{
    int y = get_global_id(0);
    if (y < height)
        for (int x = 0; x < width; x++)
            to[y * width + x] = from[y * width + x] * 3;
}}""",
        True,
        tuple(OrderLaunch(each.shape, each.numbers, (16,)) for each in _TOLD),
    ),
    OrderKernel(
        "ids_without_guards",
        f"""{HEAD}, uint width) {{
    size_t x = get_global_id(0), y = get_global_id(1);
    to[y * width + x] = from[y * width + x] + 5;
}}""",
        True,
        (
            OrderLaunch((6, 16), (16,), (16, 4)),
            OrderLaunch((8, 16), (16,), (8, 4), (8, 2)),
            # Ids reach into the next row, and further down than there are rows of the kernel's width.
            OrderLaunch((6, 16), (8,), (16, 4)),
            OrderLaunch((6, 16), (16,), (32, 4)),
            OrderLaunch((4, 16), (8,), (8, 4), (8, 2)),
        ),
    ),
    OrderKernel(
        "bound_of_another_dimension",
        f"""{HEAD}, uint height, uint width) {{
    uint x = get_global_id(0), y = get_global_id(1);
    uint limit = height < 100 ? height : 99;
    for (uint z = x; z < limit; z += 16)
        if (y < height)
            to[y * width + z] = from[y * width + z] - 1;
}}""",
        False,
        (OrderLaunch((6, 10), (6, 10), (16, 8)), OrderLaunch((10, 6), (5, 6), (16, 8))),
    ),
    OrderKernel(
        "rows_with_a_pitch",
        f"""{HEAD}, int height, int width, int pitch) {{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height)
        to[y * pitch + x] = from[y * pitch + x] + 9;
}}""",
        # Where no id reaches the pitch.
        True,
        (
            OrderLaunch((6, 10), (6, 7, 10), (8, 8)),
            OrderLaunch((6, 10), (6, 10, 10), (16, 8)),
            # Rows that overlap: the same element at several coordinates.
            OrderLaunch((6, 10), (5, 14, 9), (16, 8)),
        ),
    ),
    OrderKernel(
        "negative_columns",
        f"""{HEAD}, int height, int width) {{
    int x = (int)get_global_id(0) - 3, y = (int)get_global_id(1) + 1;
    if (x < width && y < height)
        to[y * width + x] = from[y * width + x] + 2;
}}""",
        # Where all ids are within the rows.
        True,
        (OrderLaunch((6, 10), (6, 10), (16, 8)), OrderLaunch((6, 10), (6, 10), (10, 5))),
    ),
    OrderKernel(
        "columns_that_may_be_negative",
        f"""{HEAD}, int height, int width, int shift) {{
    int x = (int)get_global_id(0) + shift, y = (int)get_global_id(1) + 1;
    if (x < width && y < height)
        to[y * width + x] = from[y * width + x] + 2;
}}""",
        False,
        (OrderLaunch((6, 10), (6, 10, -4), (16, 8)), OrderLaunch((6, 10), (6, 10, 1), (16, 8))),
    ),
    OrderKernel(
        "wrapped_row",
        f"""{HEAD}, uint height, uint width) {{
    uint x = get_global_id(0), y = get_global_id(1);
    if (x < width && y - 1 < height)
        to[(y - 1) * width + x] = from[(y - 1) * width + x] + 2;
}}""",
        True,
        _TOLD,
    ),
    OrderKernel(
        "columns_extended_with_a_sign",
        f"""{HEAD}, uchar height, uchar width) {{
    char x = get_global_id(0);
    ulong y = get_global_id(1) + 1;
    if (y < height)
        to[y * width + x] = from[y * width + x] + 4;
}}""",
        # Where rows are so short that no id within them is a negative column.
        True,
        (
            OrderLaunch((3, 200), (3, 200), (200, 2), bits=8),
            OrderLaunch((3, 128), (3, 128), (128, 2), bits=8),
        ),
    ),
    OrderKernel(
        "column_after_its_loop",
        f"""{HEAD}, uint height, uint width) {{
    uint y = get_global_id(0), x = 0;
    if (y + 1 >= height) return;
    while (x < width) x += 3;
    to[y * width + x] = from[y * width + x] + 2;
}}""",
        False,
        (OrderLaunch((6, 10), (6, 10), (8,)), OrderLaunch((6, 9), (6, 9), (8,))),
    ),
    OrderKernel(
        "column_changed_in_its_loop",
        f"""{HEAD}, uint height, uint width) {{
    uint y = get_global_id(0), x = 0;
    if (y + 1 >= height) return;
    while (x < width) {{
        uint at = y * width + x;
        x += 3;
        to[at] = from[at] - from[y * width + x];
    }}
}}""",
        True,
        (OrderLaunch((6, 10), (6, 10), (8,)), OrderLaunch((6, 9), (6, 9), (8,))),
    ),
    OrderKernel(
        "remainders",
        f"""{HEAD}, uint depth, uint height, uint width) {{
    uint x = get_global_id(0), y = get_global_id(1);
    for (uint z = 0; z < depth; z++) {{
        uint at = (((z + 1) % depth) * height + (y + 3) % height) * width + (x + width - 1) % width;
        to[(z * height + y % height) * width + x % width] = from[at];
    }}
}}""",
        True,
        (
            OrderLaunch((3, 4, 8), (3, 4, 8), (8, 4)),
            OrderLaunch((3, 4, 8), (2, 4, 8), (8, 4)),
            OrderLaunch((3, 4, 8), (3, 8, 4), (8, 8)),
            OrderLaunch((4, 3, 8), (3, 4, 8), (8, 4)),
        ),
    ),
    OrderKernel(
        "cube",
        f"""{HEAD}, int n) {{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < n && y < n)
        for (int z = 0; z < n; ++z)
            to[(z * n + y) * n + x] = from[(z * n + y) * n + x] + 3;
}}""",
        True,
        (
            OrderLaunch((5, 5, 5), (5,), (8, 8)),
            OrderLaunch((5, 5, 5), (4,), (8, 8)),
            OrderLaunch((4, 8, 2), (4,), (8, 8)),
        ),
    ),
    OrderKernel(
        "two_ways_in",
        f"""{HEAD}, uint height, uint width) {{
    uint x = 2 * get_global_id(0), y = get_global_id(1);
    if (y + 1 < height && (x < width || from[x] > 0))
        to[y * width + x] = from[y * width + x] + 6;
}}""",
        False,
        (OrderLaunch((6, 10), (6, 10), (8, 6)), OrderLaunch((6, 16), (6, 16), (8, 6))),
    ),
    OrderKernel(
        "any_index",
        f"""{HEAD}, uint count) {{
    size_t i = get_global_id(0);
    if (i < count)
        to[i] = from[count - 1 - i];
}}""",
        False,
        (
            OrderLaunch((6, 10), (60,), (64,)),
            OrderLaunch((3, 4, 5), (60,), (64,)),
            OrderLaunch((1, 7), (7,), (8,)),
        ),
    ),
)
