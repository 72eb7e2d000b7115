"""Mechanisms of work-groups: local memory, barriers, results of a whole group; and atomic operations.

The local size is free: tiles are as large as it asks for, or as any could ask for.
"""

from __future__ import annotations

import math

from coarsen.opencl_bench.workloads.free_launch.elements import (
    BARRIER,
    Draws,
    Element,
    block,
    draw_element,
    element_of,
    loop,
)
from coarsen.opencl_bench.workloads.free_launch.parts import (
    LEAST_ITEMS,
    MOST_ITEMS,
    Buffer,
    Contents,
    Extents,
    Frame,
    Scratch,
    Sketch,
    Trips,
    by_trips,
    count_of,
    draw_trips,
    fixed,
    output,
)
from coarsen.tuning.workload.benchmark import LocalSize

LOAD, LOCAL, STORE, LEVEL, ATOMIC = 2.0, 1.5, 2.0, 40.0, 60.0
FEW = ("float", "float", "uint", "float4")


def local_table(draws: Draws, frame: Frame) -> Sketch:
    """A small table that each work-group copies into local memory."""
    e, trips, entries = draw_element(draws, FEW), draw_trips(draws, 256, 32), draws.pick((32, 64, 256))
    value = e.mixed("own", f"scratch[(key + trip) % {entries}]")
    lines = [
        *_staged(frame, str(entries), "scratch[at] = table[at];"),
        BARRIER,
        *frame.within(
            [
                f"{e.type} own = input[position];",
                "uint key = keys[position];",
                f"{e.type} result = own;",
                *loop(trips.text, [e.combined(e.work(value))]),
                "output[position] = result;",
            ]
        ),
    ]
    buffers = (
        output(e.type),
        Buffer("input", e.type, count_of),
        Buffer("keys", "uint", count_of, Contents.KEYS, lambda _x: 1024),
        Buffer("table", e.type, lambda _x: entries, Contents.WEIGHTS),
    )
    scratch = (Scratch("scratch", e.type, lambda _size: entries, draws.chance(0.5)),)
    cost = 10 + 2 * LOAD + STORE + trips.count * (e.cost + LOCAL * e.components)
    return Sketch("table", lines, buffers, e.function, cost, trips, scratch, guards_itself=True)


def reduced(draws: Draws, frame: Frame) -> Sketch:
    """The results of a work-group become one."""
    e, trips = draw_element(draws, FEW), draw_trips(draws, 64, 16)
    by_tree = draws.chance(0.7)
    lines = [
        f"{e.type} result = {e.zero};",
        *frame.within(loop(trips.text, [e.combined(e.work(f"input[trip * {frame.count} + position]"))])),
        *_one_of_group(e, frame.lane, frame.group_size, frame.group, by_tree=by_tree),
    ]
    buffers = (
        output(e.type, elements=lambda x: x.count // LEAST_ITEMS * 2 + 64, contents=Contents.NUMBERS),
        Buffer("input", e.type, lambda x: x.count * x.trips),
    )
    cost = LEVEL + trips.count * (e.cost + LOAD * e.components)
    variant = "tree" if by_tree else "serial"
    return Sketch(variant, lines, buffers, e.function, cost, trips, _scratch(draws, e), True, True)


def row_reduced(draws: Draws, _frame: Frame) -> Sketch:
    """A work-group takes a whole row: its items go through it side by side."""
    e, by_tree = draw_element(draws, FEW), draws.chance(0.7)
    trips = Trips(draws.log_uniform(64, 4096), True)
    body = [e.combined(e.work("input[get_group_id(0) * trips + at]"))]
    lines = [
        f"{e.type} result = {e.zero};",
        *block("for (uint at = get_local_id(0); at < trips; at += get_local_size(0))", body),
        *_one_of_group(e, "get_local_id(0)", "get_local_size(0)", "get_group_id(0)", by_tree=by_tree),
    ]
    buffers = (output(e.type), Buffer("input", e.type, lambda x: x.width * x.trips))
    cost = LEVEL * 64 + trips.count * (e.cost + LOAD * e.components)
    variant = "row_tree" if by_tree else "row_serial"
    scratch = _scratch(draws, e)
    return Sketch(variant, lines, buffers, e.function, cost, trips, scratch, True, True, item_per_group=True)


def _one_of_group(e: Element, lane: str, size: str, group: str, *, by_tree: bool) -> list[str]:
    start = ["uint lane = " + lane + ";"]
    stage = ["scratch[lane] = result;", BARRIER]
    if by_tree:
        step = block("if (lane < active)", [e.combined("scratch[lane + active]", "scratch[lane]")])
        halves = block(f"for (uint active = {size} / 2; active > 0; active /= 2)", [*step, BARRIER])
        return [*start, *stage, *halves, *block("if (lane == 0)", [f"output[{group}] = scratch[0];"])]
    body = [
        f"{e.type} all = scratch[0];",
        *block(f"for (uint other = 1; other < {size}; ++other)", [e.combined("scratch[other]", "all")]),
        f"output[{group}] = all;",
    ]
    return [*start, *stage, *block("if (lane == 0)", body)]


def levelled(draws: Draws, frame: Frame) -> Sketch:
    """Levels of a prefix sum or of exchanges within a work-group, a barrier between any two."""
    e = element_of(draws, draws.pick(("float", "uint", "float4")), draws.pick((0, 2, 8)), is_special=False)
    by_scan = draws.chance(0.5)
    if by_scan:
        step = [*block("if (lane >= distance)", ["result += scratch[lane - distance];"])]
    elif e.is_float:
        other = "scratch[lane ^ distance]"
        step = [f"result = (lane & distance ? {other} - result : result + {other}) * 0.70710678f;"]
    else:
        step = ["result ^= scratch[lane ^ distance] >> 1;"]
    body = ["scratch[lane] = result;", BARRIER, *step, BARRIER]
    lines = [
        f"uint lane = {frame.lane};",
        f"{e.type} result = {e.zero};",
        *frame.within([f"result = {e.work('input[position]')};"]),
        *block(f"for (uint distance = 1; distance < {frame.group_size}; distance *= 2)", body),
        *frame.within(["output[position] = result;"]),
    ]
    buffers = (output(e.type), Buffer("input", e.type, count_of))
    cost = 2 * LEVEL + e.cost + (LOAD + STORE) * e.components
    variant = "scan" if by_scan else "exchange"
    return Sketch(variant, lines, buffers, e.function, cost, Trips(1, False), _scratch(draws, e), True, True)


def all_pairs(draws: Draws, frame: Frame) -> Sketch:
    """Every item goes through elements that its work-group stages tile by tile."""
    e, tiles = draw_element(draws, FEW), draws.pick((1, 2, 4))
    trips = Trips(MOST_ITEMS * tiles, False)
    inner = [e.combined(e.work(e.mixed("own", "scratch[entry]")))]
    body = [
        "scratch[get_local_id(0)] = input[base + get_local_id(0)];",
        BARRIER,
        *loop("get_local_size(0)", inner, "entry"),
        BARRIER,
    ]
    lines = [
        f"{e.type} own = {frame.loaded('owned[x]', e.zero)};",
        f"{e.type} result = {e.zero};",
        *block("for (uint base = 0; base < length; base += get_local_size(0))", body),
        *frame.within(["output[x] = result;"]),
    ]
    lines.insert(0, f"uint length = {trips.count};")
    buffers = (
        output(e.type),
        Buffer("owned", e.type, count_of),
        Buffer("input", e.type, lambda x: x.trips, Contents.WEIGHTS),
    )
    cost = LOAD + STORE + trips.count * (e.cost + LOCAL * e.components)
    return Sketch("all_pairs", lines, buffers, e.function, cost, trips, _scratch(draws, e), guards_itself=True)


def tiled_matrix(draws: Draws, frame: Frame) -> Sketch:
    """A product of matrices, both operands staged in tiles as deep as a constant."""
    kind, deep = draws.pick(("float", "float", "uint")), draws.pick((4, 8, 16))
    steps = draws.log_uniform(1, 32)
    trips = Trips(deep * steps, False)
    rows, width = "get_local_size(1)", "get_local_size(0)"
    left = f"left[(get_group_id(1) * {rows} + at / {deep}) * {trips.count} + base + at % {deep}]"
    right = f"right[(base + at / {width}) * width + get_group_id(0) * {width} + at % {width}]"
    product = f"left_tile[get_local_id(1) * {deep} + entry] * right_tile[entry * {width} + get_local_id(0)]"
    body = [
        *_staged(frame, f"{rows} * {deep}", f"left_tile[at] = {left};"),
        *_staged(frame, f"{deep} * {width}", f"right_tile[at] = {right};"),
        BARRIER,
        *loop(str(deep), [f"result += {product};"], "entry"),
        BARRIER,
    ]
    lines = [
        f"{kind} result = 0;",
        *block(f"for (uint base = 0; base < {trips.count}; base += {deep})", body),
        *frame.within(["output[position] = result;"]),
    ]
    buffers = (
        output(kind),
        Buffer("left", kind, lambda x: x.height * x.trips),
        Buffer("right", kind, lambda x: x.width * x.trips),
    )
    scratch = (
        Scratch("left_tile", kind, lambda size: size[1] * deep, draws.chance(0.5)),
        Scratch("right_tile", kind, lambda size: size[0] * deep, draws.chance(0.5)),
    )
    cost = STORE + trips.count * (2 * LOCAL + 1) + steps * 30
    return Sketch("matrix", lines, buffers, [], cost, trips, scratch, guards_itself=True)


def tiled_transpose(draws: Draws, frame: Frame) -> Sketch:
    """A transposition whose tile has the shape of the work-group, with a column more or without one."""
    e, pad = draw_element(draws, FEW), draws.pick((0, 1))
    pitch = f"(get_local_size(0) + {pad})"
    target = "(get_group_id(0) * get_local_size(0) + row) * height + get_group_id(1) * get_local_size(1) + column"
    lines = [
        f"uint lane = {frame.lane};",
        f"scratch[get_local_id(1) * {pitch} + get_local_id(0)] = {e.work('input[position]')};",
        BARRIER,
        "uint column = lane % get_local_size(1);",
        "uint row = lane / get_local_size(1);",
        f"output[{target}] = scratch[column * {pitch} + row];",
    ]
    buffers = (output(e.type), Buffer("input", e.type, count_of))
    scratch = (Scratch("scratch", e.type, lambda size: (size[0] + pad) * size[1], draws.chance(0.5)),)
    cost = 20 + e.cost + (2 * LOAD + STORE) * e.components
    return Sketch("transpose", lines, buffers, e.function, cost, Trips(1, False), scratch, guards_itself=True)


def tiled_stencil(draws: Draws, frame: Frame) -> Sketch:
    """A neighbourhood along dimension 0 of which the work-group stages all elements, those beside it too."""
    e, radius = draw_element(draws, FEW), draws.pick((1, 2, 4, 8))
    line = f"get_local_size(0) + {2 * radius}"
    pitch, rows = f"(width + {2 * radius})", "get_local_size(1)" if frame.dimensions == 2 else "1"
    row = "(get_group_id(1) * get_local_size(1) + at / line) * " + pitch + " + " if frame.dimensions == 2 else ""
    source = f"input[{row}get_group_id(0) * get_local_size(0) + at % line]"
    own = "get_local_id(1) * line + get_local_id(0)" if frame.dimensions == 2 else "get_local_id(0)"
    lines = [
        f"uint line = {line};",
        *_staged(frame, f"line * {rows}", f"scratch[at] = {source};"),
        BARRIER,
        f"{e.type} result = {e.zero};",
        *loop(str(2 * radius + 1), [e.combined(e.work(f"scratch[{own} + trip]"))]),
        "output[position] = result;",
    ]

    def elements(x: Extents) -> int:
        return (x.width + 2 * radius) * x.height

    def staged(size: LocalSize) -> int:
        return (size[0] + 2 * radius) * math.prod(size[1:])

    buffers = (output(e.type), Buffer("input", e.type, elements))
    cost = 30 + STORE + (2 * radius + 1) * (e.cost + LOCAL * e.components)
    scratch = (Scratch("scratch", e.type, staged, draws.chance(0.5)),)
    return Sketch("stencil", lines, buffers, e.function, cost, Trips(1, False), scratch, guards_itself=True)


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


def _staged(frame: Frame, count: str, statement: str) -> list[str]:
    """A loop in which the work-group's items share the copying of so many elements."""
    head = f"for (uint at = {frame.lane}; at < {count}; at += {frame.group_size})"
    return block(head, [statement])


def _scratch(draws: Draws, e: Element) -> tuple[Scratch, ...]:
    return (Scratch("scratch", e.type, lambda size: math.prod(size), draws.chance(0.5)),)
