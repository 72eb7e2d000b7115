"""A made-up table of some hundred points, to replay searches on."""

from __future__ import annotations

import itertools

from coarsen.opencl_bench.search.spaces import Axis
from coarsen.opencl_bench.search.tables import Row, Table, table_of

AXES = (
    Axis("width", (1, 2, 4, 8, 16, 32)),
    Axis("height", (1, 2, 4, 8, 16), shared=False),
    Axis("tile", (1, 2, 3, 4), shared=False),
    Axis("layout", ("rows", "columns"), shared=False),
)
DEFAULT = {"width": 1, "height": 1, "tile": 1, "layout": "rows"}


def rows() -> list[Row]:
    """Every configuration of at most 128 work-items; those with wide tiles and many items fail."""
    found: list[Row] = []
    for width, height, tile, layout in itertools.product(*(axis.values for axis in AXES)):
        if width * height <= 128:
            configuration = {"width": width, "height": height, "tile": tile, "layout": layout}
            time = abs(width - 8) + abs(height - 4) + 3 * abs(tile - 3) + 5 * (layout == "rows") + 2
            fails = width * height * tile > 256
            found.append((configuration, None if fails else float(time), 0.5))
    return found


def made_up_table(name: str = "made up") -> Table:
    return table_of(name, AXES, rows(), DEFAULT)
