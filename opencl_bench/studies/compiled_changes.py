"""Synthetic kernels' measured speed-ups beside what the device's compiler made of them, as it is now.

The shipped sweeps of synthetic kernels were made with replication alone, so variants are coarsened like that; the
device and its driver should be those of the sweep.
"""

from __future__ import annotations

import math
import random
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.models.compiled.inputs import CHANGED_FACTS, compiled_inputs
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Role
from coarsen.opencl_bench.results.exchange.files import read_results
from coarsen.opencl_bench.workloads.synthetic.benchmark import benchmark_of_name
from coarsen.runtime.compiled_variants import KernelSource, compiled_variants
from coarsen.variant.transforms import REPLICATION_ALONE
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """A coarsened kernel, measured and compiled.

    Args:
        kernel: the synthetic kernel's name.
        dimension: along which it is coarsened.
        factor: by which it is.
        gain: binary logarithm of the speed-up over the uncoarsened kernel at the same local size.
        changes: of each fact, the binary logarithm of the ratio; None where it isn't known.
    """

    kernel: str
    dimension: int
    factor: int
    gain: float
    changes: dict[str, float | None]


def measured(path: Path, count: int, seed: int) -> dict[str, list[Measurement]]:
    """Return the rows of some kernels of a sweep: each coarsened once, compared at the kernel's own local size.

    Args:
        path: of the sweep's file.
        count: kernels to draw.
        seed: to draw by.

    Raises:
        InvalidInputError: the file can't be read.
    """
    rows = defaultdict(list)
    for row in read_results(path):
        is_compared = row.role is Role.COMPARISON and row.invalidity is Invalidity.CORRECT
        if is_compared and row.baseline is not None and len(row.candidate.coarsenings) == 1:
            rows[row.subject.benchmark].append(row)
    drawn = random.Random(seed).sample(sorted(rows), min(count, len(rows)))
    return {name: rows[name] for name in sorted(drawn)}


def changed_rows(device: DeviceDescription, rows: dict[str, list[Measurement]]) -> Iterator[ChangedRow]:
    """Compile each kernel and its variants, and yield the rows of those that the compiler takes."""
    for name, measurements in rows.items():
        yield from _rows_of(device, name, measurements)


def _rows_of(device: DeviceDescription, name: str, rows: Sequence[Measurement]) -> Iterator[ChangedRow]:
    benchmark = benchmark_of_name(name)
    kernel = KernelSource(benchmark.kernel, benchmark.source, tuple(benchmark.build_options))
    variants = [replace(row.candidate, transforms=REPLICATION_ALONE) for row in rows]
    original, *readings = compiled_variants(kernel, device, [Variant(rows[0].candidate.local_size), *variants])
    for row, reading in zip(rows, readings, strict=True):
        if original.facts is None or reading.facts is None:
            continue
        inputs = compiled_inputs(original.facts, reading.facts)
        (coarsening,) = row.candidate.coarsenings
        changes = {fact: inputs[f"{fact}_change"] if inputs[f"{fact}_known"] else None for fact in CHANGED_FACTS}
        yield ChangedRow(name, coarsening.dimension, coarsening.factor, _gain(row), changes)


def _gain(row: Measurement) -> float:
    return math.log2(statistics.median(row.baseline_nanoseconds) / statistics.median(row.nanoseconds))
