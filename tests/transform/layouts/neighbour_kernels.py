"""Kernels on arrays in another order that access elements beside one of which the coordinates are proved.

The element before the first of a row is the last of the row before. Rows of constant length, and ids made of
groups' ids, are here, too.
"""

from __future__ import annotations

from dataclasses import replace

from tests.transform.layouts.order_kernels import HEAD, OrderKernel, OrderLaunch

# As the arrays are, rows left out, rows of other lengths, rows so short that a step leaves them by more than one.
_TOLD = (
    OrderLaunch((6, 10), (6, 10), (16, 8)),
    OrderLaunch((6, 10), (4, 10), (16, 8)),
    OrderLaunch((6, 10), (3, 20), (24, 8)),
    OrderLaunch((6, 10), (12, 5), (8, 16)),
    OrderLaunch((6, 10), (7, 8), (8, 8)),
    OrderLaunch((1, 60), (2, 30), (32, 4)),
    OrderLaunch((60, 1), (60, 1), (4, 64)),
    OrderLaunch((30, 2), (30, 2), (4, 32)),
    OrderLaunch((20, 3), (20, 3), (4, 32)),
    OrderLaunch((1, 60), (1, 60), (64, 2)),
)
_WIDE = tuple(replace(each, bits=64) for each in _TOLD)
_THREE_WIDE = tuple(each for each in _TOLD if each.numbers[1] > 2)
_TWO_EACH = tuple(each for each in _TOLD if min(each.numbers) > 1)
_SHORT = (
    OrderLaunch((2, 3, 5), (2, 3, 5), (8, 4)),
    OrderLaunch((4, 3, 2), (4, 3, 2), (4, 4)),
    OrderLaunch((5, 1, 4), (5, 1, 4), (4, 2)),
    OrderLaunch((5, 4, 1), (5, 4, 1), (2, 4)),
    OrderLaunch((1, 1, 7), (1, 1, 7), (8, 2)),
    # Rows of other lengths than the array's.
    OrderLaunch((4, 3, 2), (2, 3, 4), (4, 4)),
    OrderLaunch((4, 3, 2), (4, 2, 3), (4, 4)),
)


def _beside(
    name: str, type_: str, steps: tuple[str, ...], launches: tuple[OrderLaunch, ...] = _TOLD
) -> OrderKernel:
    """Each element that is there at a distance from one's own, the border of the array alone guarded."""
    reads = "".join(
        f"if (at {step} >= 0 && at {step} < height * width) sum += {k + 2} * from[y * width + x {step}];"
        for k, step in enumerate(steps)
    )
    source = f"""{HEAD}, {type_} height, {type_} width) {{
    {type_} x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    long at = (long)y * width + x;
    int sum = 0;
    {reads}
    to[y * width + x] = sum;
}}"""
    return OrderKernel(name, source, True, launches)


NEIGHBOURS = (
    _beside("signed_neighbours", "int", ("- 1", "+ 1", "- width", "+ width", "- width + 1", "+ width - 1")),
    _beside("unsigned_neighbours", "uint", ("- 1", "+ 1", "- width", "+ width", "- width - 1", "+ width + 1")),
    _beside("wide_neighbours", "ulong", ("- 1", "+ 1", "- width", "+ width", "- width + 2", "+ width - 2"), _WIDE),
    _beside(
        "far_neighbours", "int", ("- 2", "+ 2", "- 3", "+ 5", "- 9", "+ 10", "- 2 * width", "+ 3 * width - 4")
    ),
    OrderKernel(
        "inner_stencil",
        f"""{HEAD}, int height, int width) {{
    int x = get_global_id(0), y = get_global_id(1);
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
        to[y * width + x] = from[y * width + x - 1] + 2 * from[y * width + x + 1] + 3 * from[(y - 1) * width + x]
            + 5 * from[(y + 1) * width + x] + 7 * from[(y - 1) * width + x - 1]
            + 11 * from[(y + 1) * width + x + 1];
}}""",
        True,
        _TOLD,
    ),
    OrderKernel(
        "stencil_that_leaves_rows",
        f"""{HEAD}, int height, int width) {{
    int x = get_global_id(0), y = get_global_id(1);
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
        to[y * width + x] = from[y * width + x - 2] + 3 * from[y * width + x + 2];
}}""",
        True,
        _TOLD,
    ),
    OrderKernel(
        "unsigned_limits_that_wrap",
        f"""{HEAD}, uint height, uint width) {{
    uint x = get_global_id(0), y = get_global_id(1);
    if (x < width - 2 && y < height - 2)
        to[y * width + x] = from[y * width + x + 1] + 3 * from[(y + 1) * width + x];
}}""",
        True,
        (
            *_TWO_EACH,
            # No column, no row, or one: then the limits are nearly 2^32.
            OrderLaunch((6, 10), (1, 10), (8, 4)),
            OrderLaunch((6, 10), (0, 10), (8, 3)),
            OrderLaunch((6, 10), (8, 0), (16, 4)),
            OrderLaunch((60, 1), (8, 0), (16, 4)),
            OrderLaunch((60, 1), (10, 1), (8, 8)),
        ),
    ),
    OrderKernel(
        "columns_before_the_first",
        f"""{HEAD}, uint height, uint width) {{
    uint x = get_global_id(0), y = get_global_id(1) + 1;
    if (x < width && y < height)
        to[y * width + x - 4] = from[y * width + x - 4] * 3;
}}""",
        True,
        _TOLD[:6],
    ),
    OrderKernel(
        "carried_through_two_dimensions",
        f"""{HEAD}, int depth, int height, int width) {{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    for (int z = 0; z < depth; z++) {{
        int at = (z * height + y) * width + x, sum = 0, count = depth * height * width;
        if (at > 0) sum += 2 * from[(z * height + y) * width + x - 1];
        if (at + 1 < count) sum += 3 * from[(z * height + y) * width + x + 1];
        if (at >= width) sum += 5 * from[(z * height + y - 1) * width + x];
        if (at > width) sum += 7 * from[(z * height + y - 1) * width + x - 1];
        if (at + width + 1 < count) sum += 11 * from[(z * height + y + 1) * width + x + 1];
        if (at >= height * width) sum += 13 * from[((z - 1) * height + y) * width + x];
        to[at] = sum;
    }}
}}""",
        True,
        _SHORT,
    ),
    OrderKernel(
        "shifted_after_the_extension",
        f"""{HEAD}, int height, int width) {{
    int x = get_global_id(0), y = (int)get_global_id(1) + 1;
    if (x < width && y + 1 < height)
        to[(long)y * width + x] = from[(long)y * width + ((long)x - 2)] + from[(long)y * width + ((long)x + 3)];
}}""",
        True,
        _THREE_WIDE,
    ),
    OrderKernel(
        "remainders_and_their_neighbours",
        f"""{HEAD}, uint height, uint width) {{
    uint i = get_global_id(0), x = i % width, y = i / width % height;
    if (y * width + x > 1 && y * width + x + 2 < height * width)
        to[y * width + x] = from[y * width + x - 2] + 3 * from[y * width + x + 2];
}}""",
        True,
        tuple(OrderLaunch(each.shape, each.numbers, (64,)) for each in _TOLD),
    ),
    OrderKernel(
        "rows_of_constant_length",
        f"""{HEAD}, int height) {{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 12 && y < height) {{
        int at = y * 12 + x, sum = from[at];
        if (at > 0) sum += 2 * from[y * 12 + x - 1];
        if (at >= 12) sum += 3 * from[(y - 1) * 12 + x];
        if (at > 12) sum += 5 * from[(y - 1) * 12 + x - 1];
        if (at + 13 < height * 12) sum += 7 * from[(y + 1) * 12 + x + 1];
        to[at] = sum;
    }}
}}""",
        True,
        (
            OrderLaunch((5, 12), (5,), (16, 8)),
            OrderLaunch((5, 12), (4,), (16, 8)),
            OrderLaunch((6, 20), (5,), (16, 8)),
            OrderLaunch((10, 6), (5,), (16, 8)),
            OrderLaunch((12, 5), (5,), (16, 8)),
            OrderLaunch((1, 60), (5,), (16, 8)),
        ),
    ),
    OrderKernel(
        "masked_columns",
        f"""{HEAD}, uint count) {{
    uint i = get_global_id(0);
    for (uint y = 0; y < 4; y++)
        if (y * 16 + (i & 15) < count)
            to[y * 16 + (i & 15)] = from[y * 16 + (i + 5 & 15)];
}}""",
        True,
        (
            OrderLaunch((4, 16), (64,), (32,)),
            OrderLaunch((8, 8), (64,), (32,)),
            OrderLaunch((2, 32), (40,), (32,)),
        ),
    ),
    OrderKernel(
        "ids_of_groups",
        f"""{HEAD}, int height, int width) {{
    int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
    int y = get_local_id(1) + get_group_id(1) * get_local_size(1);
    if (x < width && y < height) {{
        int at = y * width + x;
        to[at] = from[y * width + x] + (at > 0 ? from[y * width + x - 1] : 0);
    }}
}}""",
        True,
        _TOLD,
    ),
    OrderKernel(
        "ids_of_groups_without_guards",
        f"""{HEAD}, uint width) {{
    uint x = get_group_id(0) * get_local_size(0) + get_local_id(0);
    uint y = get_group_id(1) * get_local_size(1) + get_local_id(1);
    to[y * width + x] = from[y * width + x] + 5;
}}""",
        True,
        (
            OrderLaunch((6, 16), (16,), (16, 4)),
            # An offset is in no group's id.
            OrderLaunch((8, 16), (16,), (8, 4), (8, 2)),
            OrderLaunch((6, 16), (8,), (16, 4)),
            OrderLaunch((4, 16), (8,), (8, 4), (8, 2)),
        ),
    ),
)
