"""The committed sweeps of synthetic kernels are of the kernels that are kept, and are as their README says."""

from __future__ import annotations

import functools
import re
from collections import Counter

import numpy as np
import pytest

from coarsen.opencl_bench.results.exchange.files import read_table
from coarsen.opencl_bench.results.measured_curves import CurveData, curves_of_results
from coarsen.opencl_bench.workloads.training_kernels import kept_kernels, training_kernel
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.processes.compile_service import original_code
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Measurement, Role
from coarsen.variant.variant import Variant
from tests.opencl_bench.results.test_data import DATA, README, table_below

DEVICES = ("intel", "pocl", "h200")
# What the README calls the devices.
NAMES = ("Intel", "PoCL", "H200")
PRESETS = {"intel": "cpu", "pocl": "cpu", "h200": "gpu"}
FACTORS = (2, 4, 8, 16, 32)
KERNELS = {name: training_kernel(name) for name in kept_kernels("synthetic")}
SECTION = README[README.index("## Synthetic kernels") : README.index("## How far the intervals")]
every_sweep = pytest.mark.parametrize("sweep", DEVICES)
every_line = pytest.mark.parametrize(("line", "sweep"), list(enumerate(DEVICES)))


@functools.cache
def rows_of(sweep: str) -> list[Measurement]:
    return read_table(DATA / f"synthetic_{sweep}.parquet")


@functools.cache
def curves_of(sweep: str) -> CurveData:
    return curves_of_results(rows_of(sweep))


@functools.cache
def gains_of(sweep: str) -> list[float]:
    """The largest speed-up of each curve, 1 where nothing is faster than factor 1."""
    return [curve.speedup.get(curve.best_factor, 1.0) for curve in curves_of(sweep).curves]


def same_of(sweep: str) -> list[Measurement]:
    """The uncoarsened kernels, each timed against itself."""
    return [row for row in rows_of(sweep) if row.role is Role.COMPARISON and row.candidate == row.baseline]


def ratio(row: Measurement) -> float:
    return median(row.baseline_nanoseconds) / median(row.nanoseconds)


@every_sweep
def test_no_result_was_wrong_and_every_kernel_was_timed(sweep: str) -> None:
    rows = rows_of(sweep)
    assert len({row.key for row in rows}) == len(rows)
    assert {row.invalidity for row in rows} <= {Invalidity.CORRECT, Invalidity.CONSTRAINTS, Invalidity.TIMEOUT}
    assert all(bool(row.reason) != bool(row.nanoseconds) for row in rows)
    assert {row.oracle for row in rows if row.candidate.coarsenings and row.nanoseconds} == {
        CheckedAgainst.UNCOARSENED
    }
    assert sorted(row.subject.benchmark for row in same_of(sweep)) == sorted(KERNELS)


@every_sweep
def test_the_rows_are_of_the_kernels_that_are_kept(sweep: str) -> None:
    for row in rows_of(sweep):
        benchmark, subject = KERNELS[row.subject.benchmark], row.subject
        preset = benchmark.preset(PRESETS[sweep])
        assert (subject.kernel, subject.build_options) == (benchmark.kernel, benchmark.build_options)
        assert (subject.preset, dict(subject.size), subject.seed) == (PRESETS[sweep], preset.size, 0)
        if row.candidate == Variant(preset.local_size):
            assert row.code_hash == original_code(benchmark, (), benchmark.source).hash, subject.benchmark


def test_the_same_kernels_were_measured_everywhere() -> None:
    hashes = [{row.subject.benchmark: row.subject.ir_hash for row in rows_of(device)} for device in DEVICES]
    assert hashes[0] == hashes[1] == hashes[2]
    candidates = [{(row.subject.benchmark, row.candidate) for row in rows_of(device)} for device in DEVICES]
    assert candidates[0] == candidates[1] == candidates[2]


@every_line
def test_the_readme_says_how_rows_ended(line: int, sweep: str) -> None:
    endings = Counter(row.invalidity for row in rows_of(sweep))
    kinds = ("CORRECT", "CONSTRAINTS", "TIMEOUT", "COMPILE", "CORRECTNESS")
    assert table_below("## Synthetic kernels")[line] == [
        f"`synthetic_{sweep}.parquet`",
        table_below("## Synthetic kernels")[line][1],
        *(str(len(rows_of(sweep))), *(str(endings[Invalidity[kind]]) for kind in kinds)),
    ]


@every_line
def test_the_readme_says_with_which_drivers(line: int, sweep: str) -> None:
    (environment,) = {row.environment for row in rows_of(sweep)}
    told = table_below("## Synthetic kernels")[line][1]
    known = f"{environment.platform_version} {environment.driver_version}"
    versions = re.findall(r"\d+(?:\.\d+)+", told)
    assert versions and all(version in known for version in versions)
    assert dict(environment.versions) == {"coarsen": "0.1.0", "llvmlite": "0.50.0", "pyopencl": "2026.1.4"}
    assert {row.started_at[:10] for row in rows_of(sweep)} == {"2026-11-20"}


@every_line
def test_the_readme_says_what_coarsening_does_to_them(line: int, sweep: str) -> None:
    curves, gains = curves_of(sweep).curves, np.array(gains_of(sweep))
    assert f"{len(KERNELS)} kernels, {len(curves)} curves" in SECTION
    assert f"{len({kernel.family for kernel in KERNELS.values()})} families" in SECTION
    above = np.mean([curve.best_factor > 1 for curve in curves])
    assert table_below("**What coarsening does to them.**")[line] == [
        *(NAMES[line], f"{above:.0%}".replace("%", " %"), f"{np.mean(gains > 1.05):.0%}".replace("%", " %")),
        *(f"{np.exp(np.log(gains).mean()):.2f}", f"{gains.max():.1f}"),
        *(str(Counter(curve.best_factor for curve in curves)[factor]) for factor in (1, *FACTORS)),
    ]


@every_line
def test_the_readme_says_what_one_factor_for_all_would_do(line: int, sweep: str) -> None:
    def mean(factor: int) -> str:
        known = [curve.speedup[factor] for curve in curves_of(sweep).curves if factor in curve.speedup]
        return f"{np.exp(np.log(known).mean()):.2f}"

    assert table_below("**One factor for all.**")[line] == [NAMES[line], *map(mean, FACTORS)]


@every_line
def test_the_readme_says_how_long_they_take_and_how_noisy_that_is(line: int, sweep: str) -> None:
    low, middle, high = np.percentile([median(row.baseline_nanoseconds) for row in same_of(sweep)], [5, 50, 95])
    ratios = [ratio(row) for row in same_of(sweep)]
    least, most = np.percentile(ratios, [5, 95])
    assert table_below("**How long they take.**")[line] == [
        *(NAMES[line], f"{middle / 1e6:.2f} ms", f"{low / 1e6:.2f} … {high / 1e6:.2f} ms"),
        *(f"{least:.2f} … {most:.2f}", f"{min(ratios):.2f} … {max(ratios):.2f}"),
    ]


def test_the_readme_says_how_they_were_measured() -> None:
    (method,) = {row.method for device in DEVICES for row in rows_of(device)}
    assert (method.repetitions, method.minimum_repetitions, method.interval_width) == (15, 3, 0.1)
    assert "at least 3 and at most 15 repetitions" in " ".join(SECTION.split())
    assert {row.role for device in DEVICES for row in rows_of(device)} == {Role.SELECTION, Role.COMPARISON}
    assert {c.stride for d in DEVICES for row in rows_of(d) for c in row.candidate.coarsenings} == {1}
