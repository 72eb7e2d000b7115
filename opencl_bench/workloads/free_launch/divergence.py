"""Mechanisms of items that take different ways: branches and loops by data or by id, guards, searches."""

from __future__ import annotations

from coarsen.opencl_bench.workloads.free_launch.elements import Draws, block, draw_element, loop
from coarsen.opencl_bench.workloads.free_launch.parts import (
    Buffer,
    Contents,
    Frame,
    Sketch,
    Trips,
    by_trips,
    count_of,
    draw_trips,
    fixed,
    output,
)

KEYS = 1024
LOAD, FAR_LOAD, STORE = 2.0, 6.0, 2.0
SHARES = (16, 128, 512, 896, 1008)


def branched(draws: Draws, _frame: Frame) -> Sketch:
    """Two or more sides of different work, chosen by data or by id."""
    e, trips = draw_element(draws), draw_trips(draws, 256, 32)
    by_data, ways = draws.chance(0.5), draws.pick((2, 2, 3, 4))
    chosen = "keys[position]" if by_data else draws.pick(("x", "x / 4", "x / 64"))
    heavy = [*loop(trips.text, [e.combined(e.work("value")), f"value = {_changed(e.type)};"])]
    sides = [
        heavy,
        [f"result = {e.work('value')};"],
        ["result = value;"],
        [e.combined("value"), e.combined("value")],
    ]
    if by_data and ways == 2:
        lines = [*block(f"if ({chosen} < {draws.pick(SHARES)})", heavy), *block("else", sides[1])]
    else:
        lines = block(f"if ({chosen} % {ways} == 0)", heavy)
        for number in range(1, ways):
            last = number == ways - 1
            lines += block("else" if last else f"else if ({chosen} % {ways} == {number})", sides[number])
    lines = [
        f"{e.type} value = input[position];",
        f"{e.type} result = {e.zero};",
        *lines,
        "output[position] = result;",
    ]
    buffers = (output(e.type), Buffer("input", e.type, count_of), *([_keys()] if by_data else []))
    cost = LOAD * 2 + STORE + trips.count * (e.cost + 1.0) * (0.7 if by_data else 1.0)
    return Sketch("data" if by_data else "id", lines, buffers, e.function, cost, trips)


def varied_lengths(draws: Draws, frame: Frame) -> Sketch:
    """Loops of each item's own length: by data, by its id, or until its number says so."""
    e, trips = draw_element(draws), draw_trips(draws, 1024, 64)
    kind = draws.pick(("data", "id", "until"))
    if kind == "until":
        return _until(trips)
    period = draws.pick((8, 32, 64, 256))
    bound = {"data": "lengths[position]", "id": f"1 + x % {period} * {trips.text} / {period}"}[kind]
    by_column = trips.count <= 128 and draws.chance(0.5)
    value = f"input[trip * {frame.count} + position]" if by_column else e.mixed("own", "input[trip]")
    lines = [
        f"{e.type} own = owned[position];",
        f"{e.type} result = own;",
        f"uint length = min({bound}, (uint){trips.text});",
        *loop("length", [e.combined(e.work(value))]),
        "output[position] = result;",
    ]
    shared = Buffer("input", e.type, by_trips if by_column else (lambda x: x.trips), Contents.WEIGHTS)
    lengths = [Buffer("lengths", "uint", count_of, Contents.LENGTHS)] if kind == "data" else []
    cost = LOAD * 2 + STORE + 0.8 * trips.count * (e.cost + LOAD * e.components)
    buffers = (output(e.type), Buffer("owned", e.type, count_of), shared, *lengths)
    return Sketch(kind, lines, buffers, e.function, cost, trips)


def _until(trips: Trips) -> Sketch:
    """Steps of a sequence of whole numbers until it comes to its end."""
    body = ["value = value & 1 ? 3 * value + 1 : value / 2;", "++steps;"]
    lines = [
        "uint value = keys[position] + 1;",
        "uint steps = 0;",
        *block(f"while (value != 1 && steps < {trips.text})", body),
        "output[position] = steps;",
    ]
    return Sketch("until", lines, (output("uint"), _keys()), [], LOAD + STORE + min(trips.count, 60) * 2.0, trips)


def sparse(draws: Draws, _frame: Frame) -> Sketch:
    """Rows of a sparse matrix, times a vector: each item's row begins where the one before it ends."""
    e, trips = draw_element(draws, ("float", "float", "uint")), Trips(draws.log_uniform(2, 128), True)
    near = draws.chance(0.5)
    body = [e.combined(e.work(e.mixed("values[at]", "input[columns[at]]")))]
    lines = [
        f"{e.type} result = {e.zero};",
        *block("for (uint at = starts[position]; at < starts[position + 1]; ++at)", body),
        "output[position] = result;",
    ]
    kind = Contents.NEAR_INDICES if near else Contents.FAR_INDICES
    buffers = (
        output(e.type),
        Buffer("starts", "uint", lambda x: x.count + 1, Contents.STARTS),
        Buffer("columns", "uint", by_trips, kind, count_of),
        Buffer("values", e.type, by_trips, Contents.WEIGHTS),
        Buffer("input", e.type, count_of),
    )
    cost = STORE + 0.5 * trips.count * (e.cost + 3 * LOAD + (0 if near else FAR_LOAD))
    return Sketch("near" if near else "far", lines, buffers, e.function, cost, trips)


def searched(draws: Draws, _frame: Frame) -> Sketch:
    """A binary search of each item's key in a sorted table."""
    bits = draws.whole(4, 18)
    body = [
        "uint middle = (low + high) / 2;",
        *block("if (table[middle] < key)", ["low = middle + 1;"]),
        *block("else", ["high = middle;"]),
    ]
    lines = [
        "uint key = keys[position];",
        "uint low = 0;",
        f"uint high = {1 << bits};",
        *block("while (low < high)", body),
        "output[position] = low;",
    ]
    largest = 1 << (bits + 3)
    buffers = (
        output("uint"),
        _keys(largest),
        Buffer("table", "uint", fixed(1 << bits), Contents.SORTED, fixed(largest)),
    )
    return Sketch("small" if bits < 12 else "large", lines, buffers, [], LOAD + STORE + bits * 12.0)


def guarded(draws: Draws, frame: Frame) -> Sketch:
    """Conditions within conditions: where an item stands, and then what its data says."""
    e, trips = draw_element(draws), draw_trips(draws, 128, 16)
    margin = draws.pick((1, 2, 5))
    interior = " && ".join(f"{at} >= {margin} && {at} + {margin} < {end}" for at, end in frame.axes)
    place = draws.pick(("interior", "half", "none"))
    where = {"interior": interior, "half": "x < width / 2", "none": ""}[place]
    by_data = place == "none" or draws.chance(0.6)
    work = [
        f"{e.type} value = input[position];",
        f"{e.type} result = {e.zero};",
        *loop(trips.text, [e.combined(e.work("value")), f"value = {_changed(e.type)};"]),
        "output[position] = result;",
    ]
    if by_data:
        work = block(f"if (keys[position] < {draws.pick(SHARES)})", work)
    lines = block(f"if ({where})", work) if where else work
    result = output(e.type, contents=Contents.NUMBERS)
    buffers = (result, Buffer("input", e.type, count_of), *([_keys()] if by_data else []))
    cost = LOAD * 2 + STORE + trips.count * (e.cost + 1.0) * 0.7
    variant = f"{place}_data" if by_data else place
    return Sketch(variant, lines, buffers, e.function, cost, trips)


def _changed(kind: str) -> str:
    """Return what a value is in the next trip."""
    if kind == "int":
        return "(value + 7) & 0xffff"
    return "value * 0.5f + 0.25f" if kind.startswith("float") else "value * 5u + 1u"


def _keys(limit: int = KEYS) -> Buffer:
    return Buffer("keys", "uint", count_of, Contents.KEYS, fixed(limit))
