"""Reductions beside PyOpenCL's, products of matrices and vectors, and where one version takes over from another.

`streams.py` says what is measured. Sum, dot product, sum of squares (nrm2), largest value and index of the largest
absolute value (iamax) are of floats. The products are TMV of Samadi et al., "Adaptic" (PLDI 2012): matrices of one
size in 4 rows to a quarter of their elements; rows between powers of two are for judging alone.
"""

from __future__ import annotations

import random
import time
from argparse import Namespace
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise, product
from math import inf, log2
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.tools import get_or_register_dtype, match_dtype_to_c_struct

from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.evidence import evidence_of
from coarsen.opencl_bench.studies.turns import Lines, Way, compared, correct, goes_on, in_turns, of_each, say_best
from coarsen.opencl_bench.studies.yardsticks import clblast, cublas, installed
from coarsen.policy.tuned_tree import TunedExplanation
from coarsen.stream.actor import Actor, Map
from coarsen.stream.reduce import Reduce
from coarsen.stream.reduction_choice import default_file, version_of
from coarsen.stream.reduction_text import OPTIONS
from coarsen.stream.stream import Stream, pipeline
from coarsen.stream.versions import LOCAL_SIZES

_ONE, _TWO = "const float *x", "const float *x, const float *y"
# Operator, identity, map, arguments.
SUMS: Mapping[str, tuple[str, str, str, str]] = {
    "sum": ("a + b", "0", "x[i]", _ONE),
    "dot": ("a + b", "0", "x[i] * y[i]", _TWO),
    "nrm2": ("a + b", "0", "x[i] * x[i]", _ONE),
    "max": ("fmax(a, b)", "-INFINITY", "x[i]", _ONE),
}
FIXED = [
    {"GROUPS": groups, "LOCAL": local, "LANES": lanes, "ACCESS": access}
    for groups, (local, lanes), access in product((1, 4, 64, 1024), ((1, 8), (1, 64), (16, 4), (256, 4)), (0, 1))
    if access < groups
]
FIXED_BY_ROWS: tuple[Mapping[str, int], ...] = (
    {"FORM": 1, "LOCAL": 32},
    {"FORM": 1, "LOCAL": 32, "LANES": 1},
    {"FORM": 1, "LOCAL": 256, "LANES": 1},
    {"GROUPS": 1, "LOCAL": 1, "LANES": 1},
    {"GROUPS": 1, "LOCAL": 1, "LANES": 8},
    {"GROUPS": 1, "LOCAL": 1, "LANES": 64},
    {"GROUPS": 1, "LOCAL": 16, "LANES": 4},
    {"GROUPS": 1, "LOCAL": 32, "LANES": 1},
    {"GROUPS": 1, "LOCAL": 256, "LANES": 4},
    {"GROUPS": 64, "LOCAL": 1, "LANES": 8},
    {"GROUPS": 64, "LOCAL": 256, "LANES": 4, "ACCESS": 1},
)
_MATRIX = "const float *m, const float *v"
HOST_ROUNDS, _HOST_CALLS = 100, 50
# Up to so many rows PyOpenCL's reduction is called for each.
_MOST_CALLS = 64


def ours(what: str, tuned: TunedFile | None = None) -> Reduce:
    """Return a reduction of ours, which chooses by a tuned file where there is one."""
    if what == "iamax":
        return Reduce.argmax(_ONE, map="fabs(x[i])", tuned=tuned)
    if what == "tmv":
        mapped = "m[row][i] * v[i]"
        return Reduce(
            "a + b", identity="0", map=mapped, arguments=_MATRIX, rows="rows", length="width", tuned=tuned
        )
    operator, identity, mapped, arguments = SUMS[what]
    return Reduce(operator, identity=identity, map=mapped, arguments=arguments, tuned=tuned)


def theirs(what: str, context: cl.Context) -> ReductionKernel:
    """Return PyOpenCL's."""
    if what != "iamax":
        operator, identity, mapped, arguments = SUMS[what]
        return ReductionKernel(context, np.float32, identity, operator, mapped, arguments)
    fields = np.dtype([("value", np.float32), ("place", np.int64)])
    fields, declared = match_dtype_to_c_struct(context.devices[0], "placed", fields)
    fields = get_or_register_dtype("placed", fields)
    preamble = (
        f"{declared} placed at(float value, long place)"
        "{ placed found; found.value = value; found.place = place; return found; }"
        "placed best(placed a, placed b)"
        "{ return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a; }"
    )
    worst = "at(-INFINITY, LONG_MAX)"
    return ReductionKernel(context, fields, worst, "best(a, b)", "at(fabs(x[i]), i)", _ONE, preamble=preamble)


def fixed(reduction: Reduce, version: TunedVersion | Mapping[str, int], device: cl.Device) -> Reduce:
    """Return a reduction, changed to have one version for all sizes: one, or that with values of macros."""
    operation = reduction._operation
    file = default_file(operation, reduction.source, device, is_pinned=False)
    version = version if isinstance(version, TunedVersion) else version_of(operation, version)
    versions = tuple(dict.fromkeys((file.default_version, version)))
    reduction._files = (replace(file, versions=versions, tree=Leaf(len(versions) - 1)),)
    return reduction


def arrays_of(queue: cl.CommandQueue, what: str, n: int, rows: int = 1) -> tuple[list[cl.array.Array], Any]:
    """Return the arrays of a reduction of rows of n elements, and its result."""
    draw = np.random.default_rng((n, rows))
    shapes: list[Any] = [(rows, n), n] if what == "tmv" else [n] * (1 + (what == "dot"))
    values = [draw.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    wide = values[0].astype(np.float64)
    results: Mapping[str, Callable[[], Any]] = {
        "max": wide.max,
        "iamax": np.abs(wide).argmax,
        "sum": wide.sum,
        "nrm2": partial(wide.dot, wide),
    }
    wanted = results.get(what, partial(wide.dot, values[-1]))()
    return [cl.array.to_device(queue, each) for each in values], wanted


def tuned_file(queue: cl.CommandQueue, what: str, asked: Namespace, largest: int) -> TunedFile | None:
    """Return the tuned file of a reduction, made now where it is missing; None where none is asked for.

    Raises:
        InvalidInputError: it is there, and of another device, driver or text.
    """
    if asked.tuned is None:
        return None
    path = asked.tuned / f"{what}.{asked.device}.json"
    if not path.exists():
        ours(what).tune(asked.device, largest=largest, seconds=asked.seconds).write(path)
    file = TunedFile.read(path)
    if not ours(what)._holds(file, queue.device):
        raise InvalidInputError(f"{path} is of another device, driver or text of the kernels")
    return file


def held_out(file: TunedFile, asked: Namespace, least: int, most: int) -> list[int]:
    """Return sizes that nobody knew when a tuned file was written: its bytes draw them, evenly over the logarithm.

    None is a power of two, or a number of an input that the file was tuned over. There may be fewer of them.
    """
    draw = random.Random(file.to_bytes() + f"{asked.seed} {most}".encode())
    known = {value for each in evidence_of(file).times.inputs for value in each.features.values()}
    unknown = (size for size in range(least, most + 1) if size & (size - 1) and size not in known)
    count, found = len([*islice(unknown, asked.drawn)]), set[int]()
    while len(found) < count:
        size = round(least * (most / least) ** draw.random())
        found |= {size} if size & (size - 1) and size not in known else set()
    return sorted(found)


def reductions(queue: cl.CommandQueue, asked: Namespace) -> Lines:
    """Yield the lines of reductions over sizes."""
    least, most = asked.powers or (6, 26)
    usual = [2**k for k in range(least, most + 1)] + [int(2 ** (k + 0.6)) for k in range(least, most, 3)]
    yield "device", "what", "n", "pyopencl", "reduce", "q1", "ratio", "q3", "fixed", "version", "tuned"

    def of(what: str) -> Lines:
        file = tuned_file(queue, what, asked, 2**most)
        sizes = sorted(usual) if file is None else held_out(file, asked, 2**least, 2**most)
        return rows(queue, what, sizes, file)

    yield from of_each(queue, asked.what or (*SUMS, "iamax"), of)


def chosen_by(what: str, file: TunedFile | None, untuned: str) -> dict[str, Reduce]:
    """Return a reduction by how its version is chosen: as it comes, and by a tuned file if there is one."""
    return {untuned: ours(what), **({} if file is None else {"tuned": ours(what, file)})}


def rows(queue: cl.CommandQueue, what: str, sizes: Sequence[int], file: TunedFile | None) -> Lines:
    """Yield the lines of one kind of reduction."""
    own: Any = theirs(what, queue.context)
    chosen = chosen_by(what, file, "reduce")
    found = list[dict[str, float]]()
    others = {str(values): fixed(ours(what), values, queue.device) for values in FIXED}
    is_exact = what in ("max", "iamax")
    for n in sizes:
        with goes_on(f"{what} of {n}"):
            arrays, wanted = arrays_of(queue, what, n)
            # Long sums in one order have larger errors.
            tolerances = (0, 0) if is_exact else (1e-2, 1e-3)
            ways = {name: Way(partial(each, queue, *arrays), None, tolerances[0]) for name, each in others.items()}
            ways |= {
                name: Way(partial(each, queue, *arrays), None, tolerances[1]) for name, each in chosen.items()
            }
            ways["pyopencl"] = ways["reduce"]._replace(run=partial(own, *arrays, queue=queue))
            if what == "iamax":
                ways["pyopencl"] = ways["pyopencl"]._replace(read=lambda found: found.get()["place"])
            times = in_turns(queue, correct(f"{what} of {n}", ways, wanted, 2e-3 * n**0.5 * (not is_exact)))
            medians = {name: float(np.median(each)) for name, each in times.items()}
            ratio = np.quantile(times["pyopencl"] / times["reduce"], (0.25, 0.5, 0.75))
            best = min(others.keys() & medians.keys(), key=medians.__getitem__)
            told = [medians["pyopencl"], medians["reduce"], *ratio, medians[best]]
            tuned = f"{medians['tuned']:.4g}" if "tuned" in medians else ""
            yield (n, *(f"{each:.4g}" for each in told), best, tuned)
            found.append({name: medians[name] for name in medians.keys() - {"pyopencl"}})
    say_best(what, found, [*chosen])


def host(queue: cl.CommandQueue, asked: Namespace) -> Lines:
    """Yield the microseconds of a call on the host, medians of rounds of some calls; the queue is empty before."""
    yield "device", "way", "microseconds"
    dot, (arrays, _) = ours("dot"), arrays_of(queue, "dot", 64)
    buffers, kept = [each.base_data for each in arrays], dot(queue, *arrays)
    kernel = cl.Program(queue.context, dot.source).build([*OPTIONS]).reduce
    # Told once, or PyOpenCL finds the types of numbers out at each call, which takes 30 µs.
    kernel.set_scalar_arg_dtypes([None, np.int64, None, np.int64, np.int64, None, np.int64])

    def launch(result: Any) -> None:  # noqa: ANN401 (as arrays have their memory)
        kernel(queue, (1,), (1,), buffers[0], 0, buffers[1], 0, 64, result, 0)

    stream, (u, *_) = pipeline(Map("gain", "0.5f * u"), Map("lift", "u + 0.25f")), arrays
    two = pipeline(Map("gain", "0.5f * u"), Actor("near", peek=2, work="push(peek(0) + peek(1)); pop();"))
    summed = pipeline(Map("half", "0.5f * u"), ours("sum"))
    ends, group = [each(queue, u) for each in (stream, two, summed)], (int(*LOCAL_SIZES[1]),)
    channel = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, u.nbytes)

    def kernel_of(step: Stream, name: str) -> Callable[..., object]:
        made: Any = cl.Kernel(cl.Program(queue.context, step.source).build([*OPTIONS]), name)
        made.set_scalar_arg_dtypes([None, None, np.int32])
        return partial(made, queue, group, group)

    bare = kernel_of(stream, "gain_lift")
    first, second = (kernel_of(two, name) for name in ("gain_near_gain", "gain_near"))
    ways: Mapping[str, Callable[[], object]] = {
        "kernel": lambda: launch(kept.base_data),
        "kernel, new buffer": lambda: launch(cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4)),
        "kernel, new array": lambda: launch(cl.array.empty(queue, (), np.float32).base_data),
        "reduce, out": partial(dot, queue, *arrays, out=kept),
        "reduce": partial(dot, queue, *arrays),
        "pyopencl": partial(theirs("dot", queue.context), *arrays, queue=queue),
        "pipeline's kernel": partial(bare, buffers[0], ends[0].base_data, 64),
        "pipeline, out": partial(stream, queue, u, out=ends[0]),
        "pipeline": partial(stream, queue, u),
        "pipeline's two kernels": lambda: (first(buffers[0], channel, 64), second(channel, ends[1].base_data, 64)),
        "two kernels, out": partial(two, queue, u, out=ends[1]),
        "sum at the end, out": partial(summed, queue, u, out=ends[2]),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(1 + HOST_ROUNDS):
        for name, run in ways.items():
            queue.finish()
            start = time.perf_counter()
            for _ in range(_HOST_CALLS):
                run()
            found[name].append((time.perf_counter() - start) / _HOST_CALLS * 1e6)
    # The first round builds, and chooses.
    medians = {name: float(np.median(each[1:])) for name, each in found.items()}
    medians["choice"] = medians["reduce, out"] - medians["kernel"]
    for name, each in medians.items():
        yield queue.device.name.strip(), name, f"{each:.3g}"


def shapes(total: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the rows and the width of matrices, and whether these are for judging alone."""
    for k in range(2, total.bit_length() - 2):
        yield 2**k, total // 2**k, False
        if k % 2:
            height = int(1.37 * 2**k)
            yield height, total // height, True


def products(queue: cl.CommandQueue, asked: Namespace) -> Lines:
    """Yield the lines of products of matrices and vectors over shapes."""
    yield "device", "rows", "width", "judging", "what", "microseconds", "version"
    with goes_on("tmv"):
        totals = asked.totals or (1 << 20, 1 << 22, 1 << 24)
        file = tuned_file(queue, "tmv", asked, max(totals))
        for total in totals:
            heights = [] if file is None else held_out(file, asked, 4, total // 4)
            drawn = [(height, total // height, True) for height in heights]
            yield from _product_lines(queue, file, drawn or shapes(total), f"tmv of {total}")


def _product_lines(
    queue: cl.CommandQueue, file: TunedFile | None, judged: Iterable[tuple[int, int, bool]], what: str
) -> Lines:
    """Yield the lines of products over some shapes."""
    chosen = chosen_by("tmv", file, "chosen")
    ways, found = {**chosen}, list[dict[str, float]]()
    for values in FIXED_BY_ROWS:
        words = " ".join(f"{name}={value}" for name, value in values.items())
        ways[words] = fixed(ours("tmv"), values, queue.device)
    for height, width, is_judging in judged:
        with goes_on(f"{height}×{width}"):
            there, wanted = arrays_of(queue, "tmv", width, height)
            result = cl.array.zeros(queue, height, np.float32)
            runs = {name: Way(partial(each, queue, *there, out=result), out=result) for name, each in ways.items()}
            buffers = [each.base_data for each in (*there, result)]
            blas = partial(clblast, queue, buffers, (height, width))
            others = dict(installed(clblast=blas, cublas=partial(cublas, *(each.get() for each in there))))
            others |= dict(_by_pyopencl(queue, there[0], there[1], result))
            kept = correct(f"{height}×{width}", runs | others, wanted, 2e-5 * width, {*chosen, *others})
            found.append({})
            for name, microseconds, *_ in compared(queue, kept):
                told = ways[name].explain(queue, rows=height, width=width).version if name in chosen else None
                words = " ".join(f"{macro}={value}" for macro, value in told.variant.definitions) if told else ""
                yield queue.device.name.strip(), height, width, is_judging, name, microseconds, words
                found[-1] |= {name: float(microseconds)} if name in ways else {}
    say_best(what, found, [*chosen])


def _by_pyopencl(
    queue: cl.CommandQueue, m: cl.array.Array, v: cl.array.Array, result: cl.array.Array
) -> Iterator[tuple[str, Way]]:
    """Yield what PyOpenCL has: a reduction of each row, where these are few, and a work-item for each row."""
    height, width = m.shape
    if height <= _MOST_CALLS:
        dot: Any = theirs("dot", queue.context)
        rows = [m[row] for row in range(height)]
        yield "pyopencl", Way(lambda: [dot(row, v) for row in rows], lambda found: [each.get() for each in found])
    by_item = ElementwiseKernel(
        queue.context,
        "float *result, const float *m, const float *v, long width",
        "float sum = 0; for (long j = 0; j < width; j++) sum += m[i * width + j] * v[j]; result[i] = sum",
    )
    yield "elementwise", Way(lambda: by_item(result, m, v, np.int64(width)), out=result)


def breaks(queue: cl.CommandQueue, asked: Namespace) -> Lines:
    """Yield the lines of break-evens."""
    yield "device", "what", "from", "to", "predicted", "low", "high", "distance"
    powers = asked.powers or (10, 24)
    yield from of_each(
        queue,
        asked.what or ("sum", "dot", "tmv"),
        lambda what: break_evens(queue, what, powers, ours(what, tuned_file(queue, what, asked, 2 ** powers[1]))),
    )


def break_evens(queue: cl.CommandQueue, what: str, powers: Sequence[int], tuned: Reduce) -> Lines:
    """Yield where one version takes over from another, and at the end the median distance.

    Args:
        queue: where.
        what: a reduction, by its elements; or `tmv`, of matrices of one size, by their rows.
        powers: of two, the least number of elements and the largest.
        tuned: the reduction, which chooses.
    """
    least, most = powers
    total, is_matrix = 2 ** min(most, 22), what == "tmv"
    halves = range(4, 2 * min(most, 22) - 3) if is_matrix else range(2 * least, 2 * most + 1)
    grid = [round(2 ** (k / 2)) for k in halves]

    def chosen(x: int) -> TunedExplanation:
        return tuned.explain(queue, **({"rows": x, "width": total // x} if is_matrix else {"n": x}))

    versions = {each.number: each.version for each in map(chosen, grid)}
    ways = {str(number): fixed(ours(what), each, queue.device) for number, each in versions.items()}
    times: dict[int, dict[str, Any]] = {}
    for x in grid if len(ways) > 1 else ():
        n, height = (total // x, x) if is_matrix else (x, 1)
        arrays, wanted = arrays_of(queue, what, n, height)
        calls = {name: Way(partial(each, queue, *arrays), rtol=1e-2) for name, each in ways.items()}
        runs = correct(f"{what} at {x}", calls, wanted, 2e-3 * n**0.5)
        if len(runs) == len(ways):
            times[x] = {name: log2(np.median(each)) for name, each in in_turns(queue, runs).items()}
    found = []
    for low, high in pairwise(times):
        one, other = (chosen(x).number for x in (low, high))
        if one != other:
            predicted = low + bisect_left(range(low, high), True, key=lambda x: chosen(x).number != one)
            costs = [times[x][str(one)] - times[x][str(other)] for x in times]
            step = min(range(len(costs) + 1), key=lambda at: sum(costs[:at]))
            bracket = [0, *times, inf][step : step + 2]
            found.append(max(0.0, log2(max(bracket[0], 1) / predicted), log2(predicted / min(bracket[1], 2**62))))
            words = (str(versions[number].variant) for number in (one, other))
            yield (*words, predicted, *bracket, f"{found[-1]:.2f}")
    yield "", "", "median", "", "", f"{np.median(found):.2f}" if found else ""
