"""Mechanisms of items that read and write an element or two: how accesses fall into cache lines."""

from __future__ import annotations

from coarsen.opencl_bench.workloads.free_launch.elements import Draws, block, draw_element, indented, loop
from coarsen.opencl_bench.workloads.free_launch.parts import (
    Buffer,
    Contents,
    Frame,
    Sketch,
    Trips,
    by_trips,
    count_of,
    draw_trips,
    output,
    times,
)

LOAD, FAR_LOAD, STORE = 2.0, 6.0, 2.0


def mapped(draws: Draws, _frame: Frame) -> Sketch:
    """Several arrays, element by element."""
    e, inputs, outputs = draw_element(draws), draws.pick((1, 2, 3, 4, 6)), draws.pick((1, 1, 2))
    names = [f"input{number}" for number in range(inputs)]
    lines = [f"{e.type} result = {e.work(f'{names[0]}[position]')};"]
    lines += [f"result = {e.mixed('result', f'{name}[position]')};" for name in names[1:]]
    in_place = draws.chance(0.25)
    stores = [f"output{number}" for number in range(outputs)]
    lines += [
        f"{name}[position] = {e.work('result') if number else 'result'};" for number, name in enumerate(stores)
    ]
    if in_place:
        lines.insert(0, f"{e.type} before = output0[position];")
        lines[-outputs] = f"output0[position] = {e.mixed('before', 'result')};"
    written = [
        output(e.type, name, Contents.NUMBERS if in_place and not number else Contents.UNWRITTEN)
        for number, name in enumerate(stores)
    ]
    buffers = (*written, *(Buffer(name, e.type, count_of, Contents.WEIGHTS) for name in names))
    cost = e.cost * outputs + (inputs * LOAD + outputs * STORE) * e.components
    return Sketch("in_place" if in_place else "arrays", lines, buffers, e.function, cost)


def vectors(draws: Draws, _frame: Frame) -> Sketch:
    """An item takes several neighbouring scalars, by a vector load or one by one."""
    e, width = draw_element(draws, ("float", "float", "uint")), draws.pick((2, 4, 8))
    if by_vector := draws.chance(0.5):
        lines = [f"{e.type}{width} all = vload{width}(position, input);", f"{e.type} result = {e.zero};"]
        lines += [e.combined(e.work(f"all.s{number}")) for number in range(width)]
    else:
        body = [e.combined(e.work(f"input[position * {width} + trip]"))]
        lines = [f"{e.type} result = {e.zero};", *loop(str(width), body)]
    lines += ["output[position] = result;"]
    buffers = (output(e.type), Buffer("input", e.type, times(width)))
    return Sketch("loaded" if by_vector else "serial", lines, buffers, e.function, (e.cost + LOAD) * width + STORE)


def records(draws: Draws, _frame: Frame) -> Sketch:
    """An array of structures, of which some fields are read."""
    e, fields = draw_element(draws, ("float", "float", "int")), draws.pick((2, 3, 4, 5, 8))
    names = [f"field{number}" for number in range(fields)]
    read = sorted(draws.some(names, draws.whole(1, fields)))
    before = ["typedef struct {", *indented([f"{e.type} {name};" for name in names]), "} Record;", "", *e.function]
    lines = [f"{e.type} result = {e.zero};"]
    lines += [e.combined(e.work(f"records[position].{name}")) for name in read]
    if writes := draws.chance(0.4):
        lines += [f"records[position].{draws.pick(names)} = result;"]
        records_ = Buffer("records", e.type, times(fields), is_output=True, pointee="Record")
        buffers: tuple[Buffer, ...] = (records_,)
    else:
        lines += ["output[position] = result;"]
        buffers = (output(e.type), Buffer("records", e.type, times(fields), pointee="Record"))
    cost = len(read) * e.cost + fields * LOAD + STORE
    return Sketch("written" if writes else "read", lines, buffers, before, cost)


def strided(draws: Draws, _frame: Frame) -> Sketch:
    """Elements that stand apart."""
    e, stride, where = draw_element(draws), draws.pick((2, 3, 4, 7, 8, 16)), draws.pick(("load", "store", "both"))
    read = "position" if where == "store" else f"position * {stride}"
    written = "position" if where == "load" else f"position * {stride}"
    lines = [f"output[{written}] = {e.work(f'input[{read}]')};"]
    buffers = (
        output(e.type, elements=times(1 if where == "load" else stride)),
        Buffer("input", e.type, times(1 if where == "store" else stride)),
    )
    return Sketch(where, lines, buffers, e.function, e.cost + (FAR_LOAD + STORE) * e.components)


def transposed(draws: Draws, frame: Frame) -> Sketch:
    """Two dimensions exchanged, in what is read or in what is written."""
    e = draw_element(draws)
    other = {2: "x * height + y", 3: draws.pick(("(x * height + y) * depth + z", "(z * width + x) * height + y"))}
    where = draws.pick(("load", "store"))
    read, written = ("position", other[frame.dimensions])[:: 1 if where == "store" else -1]
    lines = [f"output[{written}] = {e.work(f'input[{read}]')};"]
    buffers = (output(e.type), Buffer("input", e.type, count_of))
    return Sketch(where, lines, buffers, e.function, e.cost + (2 * FAR_LOAD) * e.components)


def gathered(draws: Draws, frame: Frame) -> Sketch:
    """Elements at indices that are data."""
    e, trips, near = draw_element(draws), draw_trips(draws, 32, 16), draws.chance(0.5)
    by_row = draws.chance(0.4)
    index = f"position * {trips.text} + trip" if by_row else f"trip * {frame.count} + position"
    body = [e.combined(e.work(f"input[indices[{index}]]"))]
    lines = [f"{e.type} result = {e.zero};", *loop(trips.text, body), "output[position] = result;"]
    kind = Contents.NEAR_INDICES if near else Contents.FAR_INDICES
    buffers = (
        output(e.type),
        Buffer("input", e.type, count_of),
        Buffer("indices", "uint", by_trips, kind, count_of),
    )
    cost = STORE + trips.count * (e.cost + LOAD + (LOAD if near else FAR_LOAD) * e.components)
    return Sketch("near" if near else "far", lines, buffers, e.function, cost, trips)


def scattered(draws: Draws, _frame: Frame) -> Sketch:
    """Results that go to places that are data."""
    e = draw_element(draws)
    lines = [f"output[permutation[position]] = {e.work('input[position]')};"]
    permutation = Buffer("permutation", "uint", count_of, Contents.PERMUTATION)
    buffers = (output(e.type), Buffer("input", e.type, count_of), permutation)
    return Sketch("permuted", lines, buffers, e.function, e.cost + (LOAD + 10.0) * e.components)


def paired(draws: Draws, _frame: Frame) -> Sketch:
    """A pair of elements that stand a block apart becomes two others, as in a step of a fast transform."""
    e, block_size, by_argument = draw_element(draws), draws.pick((1, 2, 4, 8, 32, 64)), draws.chance(0.5)
    size = "trips" if by_argument else str(block_size)
    lines = [
        f"uint first = position / {size} * {size} * 2 + position % {size};",
        f"uint second = first + {size};",
        f"{e.type} left = data[first];",
        f"{e.type} right = {e.work('data[second]')};",
        f"data[first] = {'left + right' if e.type != 'int' else '(left + right) & 0xffff'};",
        f"data[second] = {'left - right' if e.type != 'int' else 'left ^ right'};",
    ]
    data = Buffer("data", e.type, lambda x: 2 * (x.count + block_size), is_output=True)
    # The argument is called as the trips of a loop are, and is the same number at every size.
    variant = "argument" if by_argument else "constant"
    trips = Trips(block_size, by_argument)
    return Sketch(variant, lines, (data,), e.function, e.cost + 2 * (LOAD + STORE) * e.components, trips)


def grid_strided(draws: Draws, _frame: Frame) -> Sketch:
    """Items go on by the size of the NDRange until all elements are done."""
    e, trips = draw_element(draws), Trips(draws.log_uniform(2, 64), True)
    body = [f"output[at] = {e.work('input[at]')};"]
    total = draws.chance(0.4)
    if total:
        body = [e.combined(e.work("input[at]"))]
    lines = [
        "uint length = trips * (uint)get_global_size(0) - 7;",
        *([f"{e.type} result = {e.zero};"] if total else []),
        *block("for (uint at = x; at < length; at += get_global_size(0))", body),
        *(["output[x] = result;"] if total else []),
    ]
    buffers = (output(e.type, elements=count_of if total else by_trips), Buffer("input", e.type, by_trips))
    cost = trips.count * (e.cost + (LOAD + STORE) * e.components)
    return Sketch("total" if total else "stored", lines, buffers, e.function, cost, trips)
