"""Loop nests as numerical programs have them, whose gains by coarsening are large, or whose losses are.

    for x, y (the NDRange):            rows, columns or both of a matrix, points, bodies, pixels
        for trip (64 to 2048 rounds):  what neighbours share along x, along y or not at all
            sum += ...                 in a register, or in global memory as many programs have it

The mechanisms of `streams`, `loops` and the others have short loops as often as long ones, and half of their
kernels gain less than a quarter. Here are the others: long loops with shared operands, walks of rows beside walks
of columns, sums in memory, several passes, recurrences, records and vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.opencl_bench.workloads.free_launch.elements import Draws, block, indented, loop
from coarsen.opencl_bench.workloads.free_launch.parts import (
    Buffer,
    Contents,
    Extents,
    Frame,
    Sketch,
    Trips,
    by_trips,
    count_of,
    output,
)

KINDS = ("float", "float", "float", "float", "float4", "float2", "uint")
FLOAT_KINDS = KINDS[:-1]
LOAD, ROW_LOAD, SHARED_LOAD, STORE, DIVISION = 2.0, 3.2, 1.0, 2.0, 8.0


@dataclass(frozen=True, slots=True)
class _Sum:
    """A loop that adds terms up, in a register or in the output itself, and what the output holds before."""

    lines: list[str]
    contents: Contents
    name: str


def matrix_vector(draws: Draws, frame: Frame) -> Sketch:
    """A matrix, or two, times a vector: each item walks a row (neighbours far apart) or a column."""
    kind, trips, matrices = draws.pick(KINDS), _trips(draws), draws.pick((1, 1, 2))
    by_row = draws.chance(0.5)
    place = _walked(frame, trips, by_row=by_row)
    vectors = ["vector0"] if draws.chance(0.6) else [f"vector{number}" for number in range(matrices)]
    terms = [f"matrix{number}[{place}] * {vectors[number % len(vectors)]}[trip]" for number in range(matrices)]
    total = _sum(draws, kind, trips, " + ".join(terms))
    buffers = (
        output(kind, contents=total.contents),
        *(Buffer(f"matrix{number}", kind, by_trips) for number in range(matrices)),
        *(Buffer(name, kind, lambda x: x.trips, Contents.WEIGHTS) for name in dict.fromkeys(vectors)),
    )
    cost = STORE + trips.count * matrices * (_load(by_row) + SHARED_LOAD) * _width(kind)
    walk = "rows" if by_row else "columns"
    return Sketch(f"{walk}_{total.name}_{matrices}", total.lines, buffers, [], cost, trips)


def matrix_product(draws: Draws, frame: Frame) -> Sketch:
    """A product of matrices; either may be transposed, `x` may be the row, and only a triangle may be wanted."""
    kind, trips = draws.pick(KINDS), _trips(draws, 768)
    left_turned, right_turned, across, is_triangle = (draws.chance(p) for p in (0.35, 0.35, 0.3, 0.2))
    left = "trip * height + y" if left_turned else f"y * {trips.text} + trip"
    right = f"x * {trips.text} + trip" if right_turned else "trip * width + x"
    both_ways = kind != "float4" and draws.chance(0.2)
    term = f"left[{left}] * right[{right}]"
    if both_ways:
        term += f" + other_left[{left}] * other_right[{right}]"
    target = "x * height + y" if across else frame.position
    total = _sum(draws, kind, trips, term, target)
    lines = block("if (y <= x)", total.lines) if is_triangle else total.lines
    pairs = ("", "other_") if both_ways else ("",)
    contents = Contents.NUMBERS if is_triangle else total.contents
    buffers = (
        output(kind, contents=contents),
        *(Buffer(f"{each}left", kind, lambda x: x.height * x.trips) for each in pairs),
        *(Buffer(f"{each}right", kind, lambda x: x.width * x.trips) for each in pairs),
    )
    words = ["turned" if left_turned else "plain", "turned" if right_turned else "plain", total.name]
    words += ["across"] * across + ["triangle"] * is_triangle + ["twice"] * both_ways
    cost = STORE + trips.count * len(pairs) * (SHARED_LOAD + _load(right_turned)) * _width(kind)
    return Sketch("_".join(words), lines, buffers, [], cost, trips)


def rank_update(draws: Draws, frame: Frame) -> Sketch:
    """Products of two vectors, or of several, added to a matrix that is read and written in each round."""
    kind, trips = draws.pick(KINDS), Trips(draws.pick((1, 2, 4, 8, 16, 64)), draws.chance(0.5))
    sign = draws.pick(("+=", "-="))
    lines = loop(
        trips.text, [f"output[{frame.position}] {sign} column[trip * height + y] * row[trip * width + x];"]
    )
    buffers = (
        output(kind, contents=Contents.NUMBERS),
        Buffer("column", kind, lambda x: x.height * x.trips),
        Buffer("row", kind, lambda x: x.width * x.trips),
    )
    cost = trips.count * (SHARED_LOAD + LOAD + STORE) * _width(kind)
    return Sketch("added" if sign == "+=" else "eliminated", lines, buffers, [], cost, trips)


def statistics(draws: Draws, frame: Frame) -> Sketch:
    """Two passes over each row or column of a matrix: its mean, then its deviation or the values less that."""
    kind, trips, by_row = draws.pick(FLOAT_KINDS), _trips(draws), draws.chance(0.5)
    place = _walked(frame, trips, by_row=by_row)
    stored = draws.chance(0.4)
    second = [f"{kind} apart = input[{place}] - mean;", "spread += apart * apart;"]
    if stored:
        second.append(f"output[{place}] = apart;")
    lines = [
        f"{kind} mean = 0;",
        *loop(trips.text, [f"mean += input[{place}];"]),
        f"mean /= (float){trips.text};",
        f"{kind} spread = 0;",
        *loop(trips.text, second),
        f"deviations[{frame.position}] = sqrt(spread / (float){trips.text}) + 0.125f;",
    ]
    centred = (output(kind, elements=by_trips),) if stored else ()
    buffers = (output(kind, "deviations"), *centred, Buffer("input", kind, by_trips))
    cost = STORE + trips.count * (2 * _load(by_row) + stored * STORE) * _width(kind)
    words = ("rows" if by_row else "columns", "centred" if stored else "deviations")
    return Sketch("_".join(words), lines, buffers, [], cost, trips)


def normalised(draws: Draws, frame: Frame) -> Sketch:
    """Three passes: the largest value of a row or column, the sum of what is computed of it, and the quotients."""
    kind, trips, by_row = draws.pick(("float", "float", "float4")), _trips(draws, 512), draws.chance(0.5)
    place = _walked(frame, trips, by_row=by_row)
    function = draws.pick(("exp({0})", "1.0f / (1.0f + {0} * {0})"))
    value = function.format(f"(input[{place}] - largest)")
    first = f"{_factor(frame)} * {trips.text}" if by_row else frame.position
    lines = [
        f"{kind} largest = input[{first}];",
        *loop(trips.text, [f"largest = fmax(largest, input[{place}]);"]),
        f"{kind} total = 0;",
        *loop(trips.text, [f"total += {value};"]),
        *loop(trips.text, [f"output[{place}] = {value} / total;"]),
    ]
    buffers = (output(kind, elements=by_trips), Buffer("input", kind, by_trips))
    cost = trips.count * (3 * _load(by_row) + STORE + 2 * DIVISION) * _width(kind)
    words = ("rows" if by_row else "columns", "exponential" if "exp" in function else "rational")
    return Sketch("_".join(words), lines, buffers, [], cost, trips)


def distances(draws: Draws, frame: Frame) -> Sketch:
    """The distance from each point to each of many centres, all of them or the least, over a few coordinates."""
    trips, coordinates = _trips(draws, 512), draws.pick((2, 3, 4, 8, 16))
    apart, is_square = draws.chance(0.5), draws.chance(0.6)
    place = f"k * {frame.count} + {frame.position}" if apart else f"{_factor(frame)} * {coordinates} + k"
    difference = f"points[{place}] - centres[trip * {coordinates} + k]"
    step = [f"distance += fabs({difference});"]
    if is_square:
        step = [f"float apart = {difference};", "distance += apart * apart;"]
    taken = [["least = fmin(least, distance);"], block("if (distance < least)", ["least = distance;"])]
    round_ = ["float distance = 0;", *loop(str(coordinates), step, "k"), *draws.pick(taken)]
    lines = ["float least = 1e30f;", *loop(trips.text, round_), f"output[{frame.position}] = least;"]
    buffers = (
        output("float"),
        Buffer("points", "float", lambda x: x.count * coordinates),
        Buffer("centres", "float", lambda x: x.trips * coordinates),
    )
    cost = STORE + trips.count * coordinates * (LOAD + SHARED_LOAD)
    words = ("apart" if apart else "together", "square" if is_square else "absolute")
    return Sketch("_".join(words), lines, buffers, [], cost, trips)


def bodies(draws: Draws, frame: Frame) -> Sketch:
    """The forces of many bodies on each: of vectors, of records, or of an array for each coordinate."""
    trips, form = _trips(draws, 1024), draws.pick(("vectors", "records", "arrays"))
    names = ("px", "py", "pz", "mass")
    read = {
        "vectors": [f"body.{component}" for component in ("x", "y", "z", "w")],
        "records": [f"bodies[trip].{name}" for name in names],
        "arrays": [f"{name}[trip]" for name in names],
    }[form]
    power = draws.pick(("inverse * inverse * inverse", "inverse", "exp(-square)"))
    body = [
        *(["float4 body = bodies[trip];"] if form == "vectors" else []),
        f"float dx = {read[0]} - own.x;",
        f"float dy = {read[1]} - own.y;",
        f"float dz = {read[2]} - own.z;",
        "float square = dx * dx + dy * dy + dz * dz + 0.01f;",
        *(["float inverse = rsqrt(square);"] if "inverse" in power else []),
        f"float strength = {read[3]} * {power};",
        "force.x += dx * strength;",
        "force.y += dy * strength;",
        "force.z += dz * strength;",
    ]
    lines = [
        f"float4 own = owned[{frame.position}];",
        "float4 force = 0;",
        *loop(trips.text, body),
        f"output[{frame.position}] = force;",
    ]
    before = ["typedef struct {", *indented([f"float {name};" for name in names]), "} Body;", ""]
    shared: tuple[Buffer, ...] = (Buffer("bodies", "float4", lambda x: x.trips),)
    if form == "records":
        shared = (Buffer("bodies", "float", lambda x: 4 * x.trips, pointee="Body"),)
    if form == "arrays":
        shared = tuple(Buffer(name, "float", lambda x: x.trips) for name in names)
    buffers = (output("float4"), Buffer("owned", "float4", count_of), *shared)
    cost = STORE + trips.count * (12.0 + 4 * SHARED_LOAD)
    word = "gravity" if "*" in power else "plain" if power == "inverse" else "exponential"
    return Sketch(f"{form}_{word}", lines, buffers, before if form == "records" else [], cost, trips)


def recurrence(draws: Draws, frame: Frame) -> Sketch:
    """A sum or a filter that runs along each row or column and is stored at each step."""
    kind, trips, by_row = draws.pick(KINDS), _trips(draws, 512), draws.chance(0.5)
    place = _walked(frame, trips, by_row=by_row)
    if kind == "uint":
        step, word = "carry = (carry ^ input[{0}]) * 3u;", "hash"
    else:
        step, word = draws.pick(
            (
                ("carry += input[{0}];", "sum"),
                ("carry = 0.5f * carry + input[{0}];", "filter"),
                ("carry = (input[{0}] - 0.25f * carry) / (2.0f + weights[trip]);", "solve"),
            )
        )
    lines = [
        f"{kind} carry = 0;",
        *loop(trips.text, [step.format(place), f"output[{place}] = carry;"]),
    ]
    weights = (Buffer("weights", kind, lambda x: x.trips, Contents.WEIGHTS),) if word == "solve" else ()
    buffers = (output(kind, elements=by_trips), Buffer("input", kind, by_trips), *weights)
    cost = trips.count * (_load(by_row) + STORE + 2 * len(weights) * DIVISION) * _width(kind)
    return Sketch(f"{'rows' if by_row else 'columns'}_{word}", lines, buffers, [], cost, trips)


def planes(draws: Draws, frame: Frame) -> Sketch:
    """A stencil in three dimensions whose items go through the planes, one below the other."""
    trips, carried = _trips(draws, 256, least=16), draws.chance(0.5)
    target = f"output[trip * {frame.count} + {frame.position}]"
    body = [
        "uint centre = ((trip + 1) * (height + 2) + y + 1) * (width + 2) + x + 1;",
        "uint pitch = width + 2;",
        "float around = input[centre - 1] + input[centre + 1] + input[centre - pitch] + input[centre + pitch];",
    ]
    lines = ["uint plane = (width + 2) * (height + 2);"]
    if carried:
        start = "(y + 1) * (width + 2) + x + 1"
        lines += [f"float below = input[{start}];", f"float here = input[plane + {start}];"]
        body += ["float next = input[centre + plane];", f"{target} = 0.25f * (below + next + around) - here;"]
        body += ["below = here;", "here = next;"]
    else:
        body += [f"{target} = 0.25f * (input[centre - plane] + input[centre + plane] + around) - input[centre];"]
    lines += loop(trips.text, body)

    def padded(x: Extents) -> int:
        return (x.width + 2) * (x.height + 2) * (x.trips + 2)

    buffers = (output("float", elements=by_trips), Buffer("input", "float", padded))
    cost = trips.count * (STORE + 7 * 1.4)
    return Sketch("carried" if carried else "plain", lines, buffers, [], cost, trips)


def convolution(draws: Draws, frame: Frame) -> Sketch:
    """A window of fixed size over a padded image, along rows, along columns, or both."""
    kind, side = draws.pick(("float", "float", "float4", "uint")), draws.pick((3, 5, 7, 9, 17))
    direction = draws.pick(("rows", "columns", "both"))
    side = min(side, 7) if direction == "both" else side
    across, down = direction != "columns", direction != "rows"
    pitch = f"(width + {side - 1})" if across else "width"
    column, row = "x + i" if across else "x", "(y + j)" if down else "y"
    weight = {"rows": "i", "columns": "j", "both": f"j * {side} + i"}[direction]
    body = [f"sum += input[{row} * {pitch} + {column}] * weights[{weight}];"]
    if across:
        body = loop(str(side), body, "i")
    if down:
        body = loop(str(side), body, "j")
    lines = [f"{kind} sum = 0;", *body, f"output[{frame.position}] = sum;"]
    space = draws.pick(("global", "constant"))
    taps = side * side if direction == "both" else side
    buffers = (
        output(kind),
        Buffer("input", kind, lambda x: (x.width + side) * (x.height + side)),
        Buffer("weights", kind, lambda _x: taps, Contents.WEIGHTS, space=space),
    )
    cost = STORE + taps * (1.4 + SHARED_LOAD) * _width(kind)
    return Sketch(f"{direction}_{space}", lines, buffers, [], cost)


def small_products(draws: Draws, frame: Frame) -> Sketch:
    """Many products of small matrices or polynomials, each item one of them: records of fixed size."""
    order, kind = draws.pick((2, 3, 4, 6)), draws.pick(("float", "float", "uint"))
    cell = f"{_factor(frame)} * {order * order}"
    shared = draws.chance(0.4)
    right = f"right[k * {order} + j]" if shared else f"right[{cell} + k * {order} + j]"
    inner = [
        f"{kind} sum = 0;",
        *loop(str(order), [f"sum += left[{cell} + i * {order} + k] * {right};"], "k"),
        f"output[{cell} + i * {order} + j] = sum;",
    ]
    lines = loop(str(order), loop(str(order), inner, "j"), "i")
    square = order * order
    buffers = (
        output(kind, elements=lambda x: x.count * square),
        Buffer("left", kind, lambda x: x.count * square),
        Buffer("right", kind, (lambda _x: square) if shared else lambda x: x.count * square),
    )
    cost = order**3 * (ROW_LOAD + SHARED_LOAD) + square * STORE
    return Sketch(f"{'shared' if shared else 'own'}_{order}", lines, buffers, [], cost)


def _trips(draws: Draws, most: int = 2048, least: int = 32) -> Trips:
    """Draw a long loop, its bound an argument mostly."""
    count = draws.log_uniform(least, most)
    return Trips(count, True) if draws.chance(0.8) else Trips(1 << (count.bit_length() - 1), False)


def _walked(frame: Frame, trips: Trips, *, by_row: bool) -> str:
    """The element that an item reads in a round: of its own row, or of its own column."""
    return f"{_factor(frame)} * {trips.text} + trip" if by_row else f"trip * {frame.count} + {frame.position}"


def _sum(draws: Draws, kind: str, trips: Trips, term: str, target: str = "position") -> _Sum:
    """Draw where a sum is kept, and what becomes of the output's own value."""
    scale = "3u" if kind == "uint" else "1.5f"
    start, own = draws.pick((("zero", False), ("scaled", True), ("own", True)))
    contents = Contents.NUMBERS if own else Contents.UNWRITTEN
    if draws.chance(0.4):
        first = {"zero": [f"output[{target}] = 0;"], "scaled": [f"output[{target}] *= {scale};"], "own": []}[start]
        factor = f"{scale} * " if draws.chance(0.4) else ""
        body = [f"output[{target}] += {factor}({term});" if factor else f"output[{target}] += {term};"]
        return _Sum([*first, *loop(trips.text, body)], contents, "memory")
    last = {
        "zero": f"output[{target}] = sum;",
        "scaled": f"output[{target}] = {scale} * sum + output[{target}];",
        "own": f"output[{target}] += sum;",
    }[start]
    return _Sum([f"{kind} sum = 0;", *loop(trips.text, [f"sum += {term};"]), last], contents, "register")


def _load(by_row: bool) -> float:
    return ROW_LOAD if by_row else LOAD


def _width(kind: str) -> int:
    return int(kind[-1]) if kind[-1].isdigit() else 1


def _factor(frame: Frame) -> str:
    """The item's own element as a factor of a product."""
    return frame.position if frame.dimensions == 1 else f"({frame.position})"
