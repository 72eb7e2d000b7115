"""Reductions beside PyOpenCL's own: `python -m coarsen.opencl_bench.studies.reductions -d DEVICE`.

Sum, dot product, sum of squares (nrm2), largest value, index of the largest absolute value (iamax) of floats, at
powers of two and at sizes between them. At each size `Reduce`, `ReductionKernel` and some fixed versions run in
turns, several calls at a time until the queue is empty, the host's part included; results are compared with
NumPy's. A line of CSV for each size on standard output: microseconds of a call, medians of the rounds; how many
times as fast as PyOpenCL's, with quartiles; the fastest fixed version. `--tune 12` tunes for 12 sizes first.
`--host` measures what a call takes the host until all is enqueued, beside a kernel of PyOpenCL's without a choice.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
from pyopencl.reduction import ReductionKernel
from pyopencl.tools import get_or_register_dtype, match_dtype_to_c_struct

from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.opencl_bench.studies.turns import Way, correct, goes_on, in_turns, study
from coarsen.stream.reduce import Reduce
from coarsen.stream.reduction_choice import default_file, version_of
from coarsen.stream.reduction_text import OPTIONS

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


def ours(what: str) -> Reduce:
    """Return a reduction of ours."""
    if what == "iamax":
        return Reduce.argmax(_ONE, map="fabs(x[i])")
    operator, identity, mapped, arguments = SUMS[what]
    return Reduce(operator, identity=identity, map=mapped, arguments=arguments)


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


def arrays_of(queue: cl.CommandQueue, what: str, n: int) -> tuple[list[cl.array.Array], Any]:
    """Return the arrays of a reduction of n elements, and its result."""
    values = [
        np.random.default_rng(n + k).uniform(-1, 1, n).astype(np.float32) for k in range(1 + (what == "dot"))
    ]
    wide = values[0].astype(np.float64)
    results: Mapping[str, Callable[[], Any]] = {
        "max": wide.max,
        "iamax": np.abs(wide).argmax,
        "sum": wide.sum,
        "dot": partial(wide.dot, values[-1]),
        "nrm2": partial(wide.dot, wide),
    }
    return [cl.array.to_device(queue, each) for each in values], results[what]()


def rows(queue: cl.CommandQueue, what: str, sizes: Iterable[int], tuned: Reduce) -> Iterator[list[Any]]:
    """Yield the lines of one kind of reduction."""
    own: Any = theirs(what, queue.context)
    others = {str(values): fixed(ours(what), values, queue.device) for values in FIXED}
    for n in sizes:
        with goes_on(f"{what} of {n}"):
            arrays, wanted = arrays_of(queue, what, n)
            ways = {"pyopencl": Way(partial(own, *arrays, queue=queue))}
            if what == "iamax":
                ways["pyopencl"] = ways["pyopencl"]._replace(read=lambda found: found.get()["place"])
            ways["reduce"] = Way(partial(tuned, queue, *arrays))
            # Long sums in one order have larger errors.
            ways |= {name: Way(partial(each, queue, *arrays), rtol=1e-2) for name, each in others.items()}
            atol = 2e-3 * n**0.5
            if what in ("max", "iamax"):
                ways, atol = {name: way._replace(rtol=0) for name, way in ways.items()}, 0
            times = in_turns(queue, correct(f"{what} of {n}", ways, wanted, atol))
            medians = {name: float(np.median(each)) for name, each in times.items()}
            ratio = np.quantile(times["pyopencl"] / times["reduce"], (0.25, 0.5, 0.75))
            best = min(others.keys() & medians.keys(), key=medians.__getitem__)
            told = [medians["pyopencl"], medians["reduce"], *ratio, medians[best]]
            yield [queue.device.name.strip(), what, n, *(f"{each:.4g}" for each in told), best]


def host_lines(queue: cl.CommandQueue, rounds: int = 100, calls: int = 50) -> Iterator[Sequence[Any]]:
    """Yield the microseconds of a call on the host, medians of rounds of some calls; the queue is empty before."""
    yield "device", "way", "microseconds"
    dot, (arrays, _) = ours("dot"), arrays_of(queue, "dot", 64)
    buffers, kept = [each.base_data for each in arrays], dot(queue, *arrays)
    kernel = cl.Program(queue.context, dot.source).build([*OPTIONS]).reduce
    # Told once, or PyOpenCL finds the types of numbers out at each call, which takes 30 µs.
    kernel.set_scalar_arg_dtypes([None, np.int64, None, np.int64, np.int64, None, np.int64])

    def launch(result: cl.Buffer) -> cl.Event:
        return kernel(queue, (1,), (1,), buffers[0], 0, buffers[1], 0, 64, result, 0)

    ways: Mapping[str, Callable[[], object]] = {
        "kernel": lambda: launch(kept.base_data),
        "kernel, new buffer": lambda: launch(cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4)),
        "kernel, new array": lambda: launch(cl.array.empty(queue, (), np.float32).base_data),
        "reduce, out": partial(dot, queue, *arrays, out=kept),
        "reduce": partial(dot, queue, *arrays),
        "pyopencl": partial(theirs("dot", queue.context), *arrays, queue=queue),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(1 + rounds):
        for name, run in ways.items():
            queue.finish()
            start = time.perf_counter()
            for _ in range(calls):
                run()
            found[name].append((time.perf_counter() - start) / calls * 1e6)
    # The first round builds, and chooses.
    medians = {name: float(np.median(each[1:])) for name, each in found.items()}
    for name, each in {**medians, "choice": medians["reduce, out"] - medians["kernel"]}.items():
        yield queue.device.name.strip(), name, f"{each:.3g}"


def lines(queue: cl.CommandQueue, asked: Namespace) -> Iterator[Sequence[Any]]:
    """Yield the lines of all reductions, or of what calls take the host."""
    if asked.host:
        yield from host_lines(queue)
        return
    yield "device", "what", "n", "pyopencl", "reduce", "q1", "ratio", "q3", "fixed", "version"
    least, largest = asked.powers
    sizes = [2**k for k in range(least, largest + 1)] + [int(2 ** (k + 0.6)) for k in range(least, largest, 3)]
    for what in asked.what:
        with goes_on(what):
            tuned = ours(what)
            if asked.tune:
                tuned.tune(asked.device, largest=2**largest, inputs=asked.tune)
            yield from rows(queue, what, sorted(sizes), tuned)


if __name__ == "__main__":
    study(
        __doc__,
        lines,
        {
            "--what": {"nargs": "*", "default": [*SUMS, "iamax"]},
            "--powers": {"nargs": 2, "type": int, "default": (6, 26), "help": "of 2: the least, the largest"},
            "--host": {"action": "store_true", "help": "what a call takes the host"},
            "--tune": {"type": int, "help": "how many sizes to tune for before; none if left out"},
        },
    )
