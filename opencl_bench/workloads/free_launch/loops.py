"""Mechanisms of loops that all items run alike: what neighbours read again, what each computes; neighbourhoods."""

from __future__ import annotations

from coarsen.opencl_bench.workloads.free_launch.elements import (
    FLOATS,
    Draws,
    block,
    draw_element,
    element_of,
    loop,
)
from coarsen.opencl_bench.workloads.free_launch.parts import (
    Buffer,
    Contents,
    Elements,
    Extents,
    Frame,
    Sketch,
    by_trips,
    count_of,
    draw_trips,
    output,
)

# Components that surely fit a device's constant memory, guard zones and all.
LARGEST_CONSTANT = 4096
EDGES = ("padded", "interior", "clamped")
LOAD, SHARED_LOAD, ROW_LOAD, NEIGHBOUR_LOAD, STORE = 2.0, 1.0, 3.2, 1.4, 2.0


def broadcast(draws: Draws, _frame: Frame) -> Sketch:
    """Each item goes through the same elements, as in the forces of all bodies on each."""
    e, trips = draw_element(draws), draw_trips(draws)
    lines = [
        f"{e.type} own = owned[position];",
        f"{e.type} result = {e.zero};",
        *loop(trips.text, [e.combined(e.work(e.mixed("own", "input[trip]")))]),
        "output[position] = result;",
    ]
    space = draws.pick(("global", "constant"))
    if trips.count * e.components > LARGEST_CONSTANT:
        space = "global"
    shared = Buffer("input", e.type, lambda x: x.trips, Contents.WEIGHTS, space=space)
    buffers = (output(e.type), Buffer("owned", e.type, count_of), shared)
    cost = LOAD + STORE + trips.count * (e.cost + SHARED_LOAD * e.components)
    return Sketch(shared.space, lines, buffers, e.function, cost, trips)


def rows(draws: Draws, _frame: Frame) -> Sketch:
    """Each item goes through a row of its own: neighbours are a row apart."""
    e, trips = draw_element(draws), draw_trips(draws, 512, 64)
    lines = [
        f"{e.type} result = {e.zero};",
        *loop(trips.text, [e.combined(e.work(f"input[position * {trips.text} + trip]"))]),
        "output[position] = result;",
    ]
    buffers = (output(e.type), Buffer("input", e.type, by_trips))
    cost = STORE + trips.count * (e.cost + ROW_LOAD * e.components)
    return Sketch("rows", lines, buffers, e.function, cost, trips)


def columns(draws: Draws, frame: Frame) -> Sketch:
    """Each item goes through a column of its own: neighbours read side by side; weights are shared by all."""
    e, trips, weighted = draw_element(draws), draw_trips(draws, 512, 64), draws.chance(0.5)
    value = f"input[trip * {frame.count} + position]"
    if weighted:
        value = e.mixed(value, "weights[trip]")
    lines = [
        f"{e.type} result = {e.zero};",
        *loop(trips.text, [e.combined(e.work(value))]),
        "output[position] = result;",
    ]
    weights = (Buffer("weights", e.type, lambda x: x.trips, Contents.WEIGHTS),) if weighted else ()
    buffers = (output(e.type), Buffer("input", e.type, by_trips), *weights)
    cost = STORE + trips.count * (e.cost + (LOAD + weighted) * e.components)
    return Sketch("weighted" if weighted else "plain", lines, buffers, e.function, cost, trips)


def matrix(draws: Draws, frame: Frame) -> Sketch:
    """A product of matrices, or of many: one operand is shared along a line, the other along a column."""
    kind = draws.pick(("float", "float", "float", "uint", "float4"))
    e, trips = element_of(draws, kind, 0, is_special=False), draw_trips(draws, 1024, 64)
    left_turned, right_turned = draws.chance(0.3), draws.chance(0.3)
    left = "trip * height + y" if left_turned else f"y * {trips.text} + trip"
    right = f"x * {trips.text} + trip" if right_turned else "trip * width + x"
    if frame.dimensions == 3:
        left = f"z * height * {trips.text} + {left}"
    lines = [
        f"{e.type} result = {e.zero};",
        *loop(trips.text, [f"result += left[{left}] * right[{right}];"]),
        f"output[position] = {draws.pick(('result', 'result + output[position]'))};",
    ]
    contents = Contents.NUMBERS if "output[position];" in lines[-1] else Contents.UNWRITTEN
    buffers = (
        output(kind, contents=contents),
        Buffer("left", kind, lambda x: x.height * x.depth * x.trips),
        Buffer("right", kind, lambda x: x.width * x.trips),
    )
    variant = f"{'turned' if left_turned else 'plain'}_{'turned' if right_turned else 'plain'}"
    cost = STORE + trips.count * (SHARED_LOAD + (ROW_LOAD if right_turned else LOAD)) * e.components
    return Sketch(variant, lines, buffers, e.function, cost, trips)


def reused(draws: Draws, frame: Frame) -> Sketch:
    """Operands that all items of a line, of a column or of a plane share."""
    e, trips = draw_element(draws), draw_trips(draws, 64, 16)
    shared = {"x": "width", "y": "height", "z": "depth"}
    ids = list(shared)[: frame.dimensions]
    chosen = sorted(draws.some(ids, draws.whole(1, 2)))
    values = [f"along_{at}[trip * {shared[at]} + {at}]" for at in chosen]
    value = e.mixed(*values) if len(values) == 2 else e.mixed("own", values[0])
    lines = [
        f"{e.type} own = input[position];",
        f"{e.type} result = own;",
        *loop(trips.text, [e.combined(e.work(value))]),
        "output[position] = result;",
    ]
    buffers = (
        output(e.type),
        Buffer("input", e.type, count_of),
        *(Buffer(f"along_{at}", e.type, _line(shared[at]), Contents.WEIGHTS) for at in chosen),
    )
    cost = LOAD + STORE + trips.count * (e.cost + len(chosen) * SHARED_LOAD * e.components)
    return Sketch("_".join(chosen), lines, buffers, e.function, cost, trips)


def windowed(draws: Draws, frame: Frame) -> Sketch:
    """A window that slides along a line, or over a plane: neighbours read almost the same."""
    e, trips = draw_element(draws), draw_trips(draws, 256 if frame.dimensions == 1 else 12, 16)
    space = draws.pick(("global", "constant"))
    if frame.dimensions == 1:
        body = loop(trips.text, [e.combined(e.work(e.mixed("input[x + trip]", "weights[trip]")))])
        steps = trips.count
    else:
        pitch = f"(width + {trips.text})"
        value = e.mixed(f"input[(y + row) * {pitch} + x + trip]", "weights[row]")
        body = loop(trips.text, loop(trips.text, [e.combined(e.work(value))]), "row")
        steps = trips.count**2
    lines = [f"{e.type} result = {e.zero};", *body, "output[position] = result;"]
    buffers = (
        output(e.type),
        Buffer("input", e.type, lambda x: (x.width + x.trips) * (x.height + x.trips)),
        Buffer("weights", e.type, lambda x: x.trips, Contents.WEIGHTS, space=space),
    )
    cost = STORE + steps * (e.cost + 2 * SHARED_LOAD * e.components)
    return Sketch("line" if frame.dimensions == 1 else "plane", lines, buffers, e.function, cost, trips)


def chained(draws: Draws, _frame: Frame) -> Sketch:
    """A chain of integer operations, as in hashes and generators of random numbers; or some side by side."""
    e = element_of(draws, draws.pick(("uint", "uint", "uint4")), draws.pick((2, 4, 8, 16)), is_special=False)
    trips, chains = draw_trips(draws), draws.pick((1, 1, 2, 4))
    names = [f"state{number}" for number in range(chains)]
    lines = [f"{e.type} {name} = ({e.type})(position * {2 * n + 1}u + seed);" for n, name in enumerate(names)]
    lines += loop(trips.text, [f"{name} = {e.work(name)};" for name in names])
    lines += [f"output[position] = {' ^ '.join(names)};"]
    cost = STORE + trips.count * chains * e.cost * 2
    seed = Buffer("seeds", "uint", count_of, Contents.KEYS, lambda _x: 1 << 20)
    lines.insert(0, "uint seed = seeds[position];")
    return Sketch("serial" if chains == 1 else "parallel", lines, (output(e.type), seed), e.function, cost, trips)


def special(draws: Draws, _frame: Frame) -> Sketch:
    """Special functions of each item's own number, again and again."""
    e = element_of(draws, draws.pick(FLOATS), draws.pick((1, 2, 4, 6)), is_special=True)
    trips = draw_trips(draws, 256, 32)
    lines = [
        f"{e.type} value = input[position];",
        *loop(trips.text, [f"value = {e.work('value')};"]),
        "output[position] = value;",
    ]
    buffers = (output(e.type), Buffer("input", e.type, count_of))
    return Sketch("repeated", lines, buffers, e.function, LOAD + STORE + trips.count * e.cost, trips)


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
    cost = STORE + e.cost + len(reads) * NEIGHBOUR_LOAD * e.components
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


def _line(extent: str) -> Elements:
    def elements(extents: Extents) -> int:
        return int(getattr(extents, extent)) * extents.trips

    return elements
