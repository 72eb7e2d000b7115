"""Mechanism of neighbourhoods in one, two and three dimensions, and that of atomic operations."""

from __future__ import annotations

from coarsen.opencl_bench.workloads.free_launch.draws import Draws
from coarsen.opencl_bench.workloads.free_launch.elements import draw_element, loop
from coarsen.opencl_bench.workloads.free_launch.frame import Frame, by_trips, draw_trips, fixed, output
from coarsen.opencl_bench.workloads.free_launch.parts import Buffer, Contents, Extents, Scratch, Sketch, Trips
from coarsen.opencl_bench.workloads.synthetic.text import BARRIER, block

LOAD, STORE, ATOMIC = 1.4, 2.0, 60.0
EDGES = ("padded", "interior", "clamped")


def stencil(draws: Draws, frame: Frame) -> Sketch:
    """The weighted neighbours of each element; at the edges padding, a guard, or the nearest element."""
    e, radius, edge = draw_element(draws), draws.pick((1, 1, 2, 3)), draws.pick(EDGES)
    reads = [_neighbour(frame, edge, radius, 0, 0)]
    for dimension in range(frame.dimensions):
        for step in range(1, radius + 1):
            reads += [_neighbour(frame, edge, radius, dimension, sign * step) for sign in (-1, 1)]
    lines = [f"{e.type} result = {e.work(reads[0])};", *(e.combined(read) for read in reads[1:])]
    lines += ["output[position] = result;"]
    if edge == "interior":
        where = " && ".join(f"{at} >= {radius} && {at} + {radius} < {end}" for at, end in frame.axes)
        lines = block(f"if ({where})", lines)
    pad = 2 * radius if edge == "padded" else 0
    dimensions = frame.dimensions

    def elements(x: Extents) -> int:
        sides = (x.width, x.height, x.depth)[:dimensions]
        product = 1
        for side in sides:
            product *= side + pad
        return product

    contents = Contents.NUMBERS if edge == "interior" else Contents.UNWRITTEN
    buffers = (output(e.type, contents=contents), Buffer("input", e.type, elements))
    cost = STORE + e.cost + len(reads) * LOAD * e.components
    return Sketch(edge, lines, buffers, e.function, cost)


def _neighbour(frame: Frame, edge: str, radius: int, dimension: int, step: int) -> str:
    """The expression that reads a neighbour so many steps away along a dimension."""
    places = []
    for number, (at, end) in enumerate(frame.axes):
        moved = step if number == dimension else 0
        if edge == "padded":
            places.append((f"({at} + {radius + moved})", f"({end} + {2 * radius})"))
        elif edge == "clamped" and moved:
            places.append((f"(uint)clamp((int){at} + {moved}, 0, (int){end} - 1)", end))
        else:
            sign = "-" if moved < 0 else "+"
            places.append((f"({at} {sign} {abs(moved)})" if moved else at, end))
    index = places[-1][0]
    for at, end in reversed(places[:-1]):
        index = f"({index} * {end} + {at})"
    return f"input[{index}]"


def atomic(draws: Draws, frame: Frame) -> Sketch:
    """Counts or extremes of whole numbers: the order of the items makes no difference."""
    kind, bins = draws.pick(("global", "local", "extreme")), draws.pick((16, 64, 256, 1024))
    trips = draw_trips(draws, 64, 16)
    index = f"keys[trip * {frame.count} + position] % {bins}"
    if kind == "local":
        return _local_counts(draws, frame, index, bins, trips)
    operation = "atomic_inc(&bins[bin]);"
    if kind == "extreme":
        operation = (
            f"{draws.pick(('atomic_max', 'atomic_or', 'atomic_xor', 'atomic_add'))}(&bins[bin], bin + x % 37);"
        )
    lines = loop(trips.text, [f"uint bin = {index};", operation])
    cost = trips.count * ATOMIC
    return Sketch(kind, lines, (_bins(bins), _keys()), [], cost, trips)


def _local_counts(draws: Draws, frame: Frame, index: str, bins: int, trips: Trips) -> Sketch:
    each = f"for (uint at = {frame.lane}; at < {bins}; at += {frame.group_size})"
    lines = [
        *block(each, ["scratch[at] = 0;"]),
        BARRIER,
        *frame.within(loop(trips.text, [f"atomic_inc(&scratch[{index}]);"])),
        BARRIER,
        *block(each, ["atomic_add(&bins[at], scratch[at]);"]),
    ]
    scratch = (Scratch("scratch", "uint", lambda _size: bins, draws.chance(0.5)),)
    cost = trips.count * ATOMIC / 3 + bins * ATOMIC / 64
    return Sketch("local", lines, (_bins(bins), _keys()), [], cost, trips, scratch, guards_itself=True)


def _bins(count: int) -> Buffer:
    return output("uint", "bins", Contents.ZEROS, fixed(count))


def _keys() -> Buffer:
    return Buffer("keys", "uint", by_trips, Contents.KEYS, fixed(1024))
