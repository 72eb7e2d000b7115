"""Reductions beside PyOpenCL's own: `python -m coarsen.opencl_bench.studies.reductions -d DEVICE`.

Sum, dot product, sum of squares (nrm2), largest value, index of the largest absolute value (iamax) of floats, at
powers of two and at sizes between them. At each size `Reduce`, `ReductionKernel` and some fixed versions run in
turns, several calls at a time until the queue is empty, the host's part included; results are compared. A line of
CSV for each size on standard output: microseconds of a call, medians of the rounds; how many times as fast as
PyOpenCL's, with quartiles; the fastest fixed version. `--tune 12` tunes for 12 sizes first.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
from pyopencl.reduction import ReductionKernel
from pyopencl.tools import get_or_register_dtype, match_dtype_to_c_struct

from coarsen.devices.discovery import open_device
from coarsen.devices.drivers import prepare_loader
from coarsen.devices.selection import find_device
from coarsen.dispatch.tree import Leaf
from coarsen.opencl_bench.streams.yardsticks import in_turns
from coarsen.stream.reduce import Reduce
from coarsen.stream.reduction_choice import default_file, version_of

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
    for groups, (local, lanes), access in product((1, 4, 64, 1024), ((1, 8), (256, 4)), (0, 1))
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


def fixed(reduction: Reduce, values: Mapping[str, int], device: cl.Device) -> Reduce:
    """Return a reduction, changed to have one version for all sizes."""
    operation = reduction._operation
    file = default_file(operation, reduction.source, device, is_pinned=False)
    versions = tuple(dict.fromkeys((file.default_version, version_of(operation, values))))
    reduction._files = (replace(file, versions=versions, tree=Leaf(len(versions) - 1)),)
    return reduction


def rows(queue: cl.CommandQueue, what: str, sizes: Iterable[int], tuned: Reduce) -> Iterator[list[Any]]:
    """Yield the lines of one kind of reduction."""
    own: Any = theirs(what, queue.context)
    others = {str(values): fixed(ours(what), values, queue.device) for values in FIXED}
    for n in sizes:
        values = np.random.default_rng(n).uniform(-1, 1, n).astype(np.float32)
        arrays = [cl.array.to_device(queue, values) for _ in range(2 if what == "dot" else 1)]
        runs: dict[str, Callable[[], Any]] = {
            "pyopencl": partial(own, *arrays, queue=queue),
            **{name: partial(each, queue, *arrays) for name, each in {"reduce": tuned, **others}.items()},
        }
        wanted = runs["pyopencl"]().get()
        wanted = wanted["place"] if what == "iamax" else wanted
        for name in runs.keys() - {"pyopencl"}:
            # Long sums in one order have larger errors.
            most = 1e-3 if name == "reduce" else 1e-2
            if not np.allclose(found := runs[name]().get(), wanted, rtol=most, atol=2e-3 * n**0.5):
                sys.exit(f"{what} of {n}: {name} has {found}, and PyOpenCL {wanted}")
        times = in_turns(queue, runs)
        medians = {name: float(np.median(each)) for name, each in times.items()}
        ratio = np.quantile(times["pyopencl"] / times["reduce"], (0.25, 0.5, 0.75))
        best = min(others, key=medians.__getitem__)
        told = [medians["pyopencl"], medians["reduce"], *ratio, medians[best]]
        yield [queue.device.name.strip(), what, n, *(f"{each:.4g}" for each in told), best]


def main() -> None:
    """Measure, and print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-d", "--device", required=True)
    parser.add_argument("--what", nargs="*", default=[*SUMS, "iamax"])
    parser.add_argument("--powers", nargs=2, type=int, default=(6, 26), help="of 2: the least, the largest")
    parser.add_argument("--tune", type=int, help="how many sizes to tune for before; none if left out")
    asked = parser.parse_args()
    prepare_loader()
    context = cl.Context([open_device(find_device(asked.device))])
    queue = cl.CommandQueue(context)
    least, largest = asked.powers
    sizes = [2**k for k in range(least, largest + 1)] + [int(2 ** (k + 0.6)) for k in range(least, largest, 3)]
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(("device", "what", "n", "pyopencl", "reduce", "q1", "ratio", "q3", "fixed", "version"))
    for what in asked.what:
        tuned = ours(what)
        if asked.tune:
            tuned.tune(asked.device, largest=2**largest, inputs=asked.tune)
        for line in rows(queue, what, sorted(sizes), tuned):
            lines.writerow(line)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
