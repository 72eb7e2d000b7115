"""Use of local memory by a synthetic kernel: staging tiles and tables, combining a work-group's results."""

from __future__ import annotations

from coarsen.opencl_bench.workloads.synthetic.axes import REDUCTIONS, Access, LocalMemory, Loop
from coarsen.opencl_bench.workloads.synthetic.elements import accumulated, element, loaded, own_lines, weighted
from coarsen.opencl_bench.workloads.synthetic.indices import has_trips, neighbours
from coarsen.opencl_bench.workloads.synthetic.loops import looped, total
from coarsen.opencl_bench.workloads.synthetic.specification import Partner, Specification
from coarsen.opencl_bench.workloads.synthetic.text import BARRIER, block

HALF_ROOT = "0.70710678f"


def staged_table(specification: Specification) -> list[str]:
    """Return the lines that copy a table into local memory, an entry by each item."""
    if specification.axes.local_memory is not LocalMemory.TABLE:
        return []
    return ["scratch[lane] = table[lane];", BARRIER]


def tiled(specification: Specification) -> list[str]:
    """Return the lines before the store, of a kernel whose items read what others have staged."""
    if specification.is_shared_tile:
        return _shared_tile(specification)
    if specification.axes.access is Access.STENCIL:
        return _staged_neighbourhood(specification)
    by_trip = has_trips(specification)
    lines, value = element(specification)
    staged, read = _tile_places(specification)
    body = [*lines, f"scratch[{staged}] = {value};", BARRIER]
    body += accumulated(specification, f"scratch[{read}]", into_total=by_trip)
    # The next tile may only be staged when all have read this one.
    return [*own_lines(specification), *looped(specification, [*body, BARRIER] if by_trip else body)]


def levels(specification: Specification) -> list[str]:
    """Return the lines that make all items' `result` the result of the work-group, or a new one of each item."""
    size = str(specification.group_size) if specification.static_local else "group_size"
    return _LEVELS[specification.axes.local_memory](specification, size)


def _tile_places(specification: Specification) -> tuple[str, str]:
    """Return where an item stages its element, and which it reads."""
    if specification.is_transposed_tile:
        pitch = specification.axes.local_size[1] + 1  # one more than the tile has, against bank conflicts
        return f"row * {pitch} + column", f"column * {pitch} + row"
    size = specification.group_size
    read = {
        Partner.REVERSED: f"{size - 1} - lane",
        Partner.ROTATED: f"(lane + {specification.stride}) % {size}",
        Partner.NEIGHBOUR: "lane ^ 1",
    }
    return "lane", read[specification.partner]


def _shared_tile(specification: Specification) -> list[str]:
    size = specification.group_size
    inner = accumulated(specification, "scratch[entry]", into_total=True)
    if any("trip]" in line for line in inner):
        inner = [f"uint trip = tile * {size} + entry;", *inner]
    trips = "trips" if specification.axes.loop is Loop.ARGUMENT else str(specification.trips)
    body = [
        f"scratch[lane] = {loaded(specification, 'input', f'tile * {size} + lane')};",
        BARRIER,
        *block(f"for (uint entry = 0; entry < {size}; ++entry)", inner),
        BARRIER,
    ]
    return [
        *own_lines(specification),
        total(specification),
        *block(f"for (uint tile = 0; tile < {trips}; ++tile)", body),
    ]


def _staged_neighbourhood(specification: Specification) -> list[str]:
    radius, width = specification.radius, specification.axes.local_size[0]
    is_line = specification.axes.dimensions == 1
    column = "lane" if is_line else "column"
    base = "lane" if is_line else f"row * {width + 2 * radius} + column"
    middle = neighbours(specification)[0]
    halo = [
        f"scratch[base] = {loaded(specification, 'input', f'middle - {radius}')};",
        f"scratch[base + {radius + width}] = {loaded(specification, 'input', f'middle + {width}')};",
    ]
    beside = [f"base + {step}" for step in range(2 * radius + 1) if step != radius]
    value = weighted(specification, "scratch", f"base + {radius}", beside)
    return [
        f"uint middle = {middle};",
        f"uint base = {base};",
        f"scratch[base + {radius}] = {loaded(specification, 'input', 'middle')};",
        *block(f"if ({column} < {radius})", halo),
        BARRIER,
        *accumulated(specification, value, into_total=False),
    ]


def _tree(_specification: Specification, size: str) -> list[str]:
    body = [
        *block("if (lane < active)", ["scratch[lane] += scratch[lane + active];"]),
        BARRIER,
    ]
    return [
        "scratch[lane] = result;",
        BARRIER,
        *block(f"for (uint active = {size} / 2; active > 0; active /= 2)", body),
        *block("if (lane == 0)", ["output[group] = scratch[0];"]),
    ]


def _serial(specification: Specification, size: str) -> list[str]:
    body = [
        f"{specification.compute_type} sum = scratch[0];",
        *block(f"for (uint other = 1; other < {size}; ++other)", ["sum += scratch[other];"]),
        "output[group] = sum;",
    ]
    return ["scratch[lane] = result;", BARRIER, *block("if (lane == 0)", body)]


def _haar(specification: Specification, size: str) -> list[str]:
    """Sums go to the first half, differences to the second, and so on with the first half."""
    value_type = specification.compute_type
    scale = "" if specification.is_whole_number else f" * {HALF_ROOT}"
    difference = "even ^ odd" if specification.is_whole_number else "even - odd"
    body = [
        f"{value_type} even = result;",
        f"{value_type} odd = result;",
        *block("if (lane < active)", ["even = scratch[2 * lane];", "odd = scratch[2 * lane + 1];"]),
        BARRIER,
        *block(
            "if (lane < active)",
            [
                f"scratch[lane] = (even + odd){scale};",
                f"scratch[lane + active] = ({difference}){scale};",
            ],
        ),
        BARRIER,
    ]
    return [
        "scratch[lane] = result;",
        BARRIER,
        *block(f"for (uint active = {size} / 2; active > 0; active /= 2)", body),
        "result = scratch[lane];",
    ]


def _exchange(specification: Specification, size: str) -> list[str]:
    if specification.is_whole_number:
        new = "result ^ other >> 1"
    else:
        new = f"(lane & distance ? other - result : result + other) * {HALF_ROOT}"
    body = [
        "scratch[lane] = result;",
        BARRIER,
        f"{specification.compute_type} other = scratch[lane ^ distance];",
        f"result = {new};",
        BARRIER,
    ]
    return block(f"for (uint distance = 1; distance < {size}; distance *= 2)", body)


def _scan(_specification: Specification, size: str) -> list[str]:
    body = [
        "scratch[lane] = result;",
        BARRIER,
        *block("if (lane >= distance)", ["result += scratch[lane - distance];"]),
        BARRIER,
    ]
    return block(f"for (uint distance = 1; distance < {size}; distance *= 2)", body)


_LEVELS = {
    LocalMemory.TREE: _tree,
    LocalMemory.SERIAL: _serial,
    LocalMemory.HAAR: _haar,
    LocalMemory.EXCHANGE: _exchange,
    LocalMemory.SCAN: _scan,
}


def stores_per_group(specification: Specification) -> bool:
    """Return True if `levels` has stored the result already."""
    return specification.axes.local_memory in REDUCTIONS
