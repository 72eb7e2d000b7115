"""The best that sweeps found of a kernel: for the study of tuned kernels, in a file that any machine can read.

    python -m coarsen.opencl_bench.studies.best_known --device pocl --device intel store.sqlite -o known.json

Such a file needs neither a database nor tables where it is read.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from coarsen.base.files import read_file, replace_file
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.studies.tuned_rows import KNOWN, LOCAL_SIZE
from coarsen.opencl_bench.workloads.lookup import FURTHER, SUITE, further_benchmark
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.tuning.workload.benchmark import LocalSize
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_to_json

# What is known of a kernel: variants as JSON, the best first, by label, and how many were timed.
Known = Mapping[str, Any]
# By device, then by kernel.
KnownBest = Mapping[str, Mapping[str, Known]]

# So many of any local size, and of the program's own: where the others can't be launched, those remain.
_MOST = 5


def known_of(kernel: str, preset: str, measurements: Iterable[Measurement]) -> Known:
    """Return the best uncoarsened local sizes and the best variants of a kernel, with its own macros.

    Args:
        kernel: of the suite or the further ones.
        preset: the sizes; its local size is the program's own.
        measurements: of one device; speed-ups are over the baseline that most of them have. Of a variant that was
            confirmed in new processes, the confirmations count.
    """
    benchmark = further_benchmark(kernel)
    rows = [
        row
        for row in measurements
        if (row.subject.benchmark, row.subject.preset) == (kernel, preset)
        and row.role is not Role.SELECTION
        and row.invalidity is Invalidity.CORRECT
        and row.candidate.definitions == benchmark.own_definitions
        and row.nanoseconds
    ]
    gains = _gains(rows)
    ranked = sorted(gains, key=lambda variant: -gains[variant])
    own = benchmark.preset(preset).local_size
    best = dict.fromkeys([*ranked[:_MOST], *[each for each in ranked if _has(each, own)][:_MOST]])
    return {
        "timed": len(ranked),
        LOCAL_SIZE: [variant_to_json(each) for each in ranked if not each.is_coarsened],
        KNOWN: [variant_to_json(each) for each in best],
        "lost to the local size": _lost(gains, own),
    }


def _gains(rows: Sequence[Measurement]) -> dict[Variant, float]:
    """The speed-ups of variants over the baseline that most rows have."""
    if not rows:
        return {}
    [(baseline, _)] = Counter(row.baseline for row in rows).most_common(1)
    ratios: defaultdict[tuple[Variant, Role], list[float]] = defaultdict(list)
    for row in rows:
        if row.baseline == baseline:
            gained = median(row.baseline_nanoseconds) / median(row.nanoseconds)
            ratios[row.candidate, row.role].append(gained)
    variants = dict.fromkeys(variant for variant, _ in ratios)
    return {
        variant: median(ratios.get((variant, Role.CONFIRMATION)) or ratios[variant, Role.COMPARISON])
        for variant in variants
    }


def _has(variant: Variant, local_size: LocalSize) -> bool:
    return variant.local_size in ((), local_size)


def _lost(gains: Mapping[Variant, float], own: LocalSize) -> float | None:
    """Return how many times as fast the best of all is as the best of the program's own local size."""
    own_gains = [gain for variant, gain in gains.items() if _has(variant, own)]
    return max(gains.values()) / max(own_gains) if own_gains else None


def known_best(devices: Sequence[str], preset: str, path: Path) -> KnownBest:
    """Return what a file knows of devices.

    Args:
        devices: names, as `--device` takes them.
        preset: the sizes.
        path: what this module wrote (.json); a store (.sqlite); results as `coarsen bench -o` writes them.

    Raises:
        InvalidInputError: it can't be read.
    """
    if path.suffix == ".json":
        return _read(path)
    measurements = _measurements(path)
    return {device: _by_kernel(_of_device(measurements, device), preset) for device in devices}


def shipped_best(devices: Sequence[str], preset: str) -> KnownBest:
    """Return what the sweeps that come with the package know; nothing without the packages that read them."""
    if importlib.util.find_spec("pyarrow") is None:
        return {}
    from coarsen.opencl_bench.results.exchange.files import read_results
    from coarsen.opencl_bench.results.measured_rows import shipped_files

    files = shipped_files()
    named = {device: [files[name] for name in (f"larger_{device}", device) if name in files] for device in devices}
    # The larger space last: it counts for the kernels that it has.
    return merged(
        {device: _by_kernel(read_results(path), preset)}
        for device, paths in named.items()
        for path in reversed(paths)
    )


def merged(sources: Iterable[KnownBest]) -> KnownBest:
    """Return what all sources know; of a kernel that several have, the last counts."""
    found: defaultdict[str, dict[str, Known]] = defaultdict(dict)
    for source in sources:
        for device, kernels in source.items():
            found[device] |= kernels
    return found


def _by_kernel(measurements: Sequence[Measurement], preset: str) -> dict[str, Known]:
    kernels = {row.subject.benchmark for row in measurements} & {*SUITE, *FURTHER}
    every = {kernel: known_of(kernel, preset, measurements) for kernel in sorted(kernels)}
    return {kernel: known for kernel, known in every.items() if known["timed"]}


def _measurements(path: Path) -> list[Measurement]:
    if path.suffix != ".sqlite":
        from coarsen.opencl_bench.results.exchange.files import read_results

        return read_results(path)
    from coarsen.tuning.store.database import open_existing_store

    with open_existing_store(str(path)) as store:
        return list(store.measurements())


def _of_device(measurements: Sequence[Measurement], device: str) -> list[Measurement]:
    from coarsen.devices.selection import find_device

    described = find_device(device)
    place = described.name, described.platform_name
    return [row for row in measurements if (row.environment.device, row.environment.platform) == place]


def _read(path: Path) -> KnownBest:
    try:
        found = json.loads(read_file(path))
    except ValueError:
        found = None
    devices = found.values() if isinstance(found, dict) else [None]
    if not all(isinstance(kernels, dict) for kernels in devices):
        raise InvalidInputError(f"{path} does not say what is known best; write it with {__spec__.name}")
    return dict(found)


def main() -> None:
    """Write what sweeps know to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "file", type=Path, nargs="*", help="stores (.sqlite) and results, beside the shipped sweeps"
    )
    parser.add_argument("--device", action="append", required=True, help="as `coarsen devices` names it")
    parser.add_argument("--preset", default="cpu")
    parser.add_argument("-o", "--output", type=Path, required=True)
    words = parser.parse_args()
    sources = [known_best(words.device, words.preset, path) for path in words.file]
    found = merged([shipped_best(words.device, words.preset), *sources])
    replace_file(json.dumps(found, indent=1).encode(), words.output)


if __name__ == "__main__":
    main()
