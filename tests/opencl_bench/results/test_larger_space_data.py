"""The committed sweeps over the larger space are whole, and say what the README beside them says."""

from __future__ import annotations

import functools
from collections import Counter

import pytest

from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Role
from coarsen.opencl_bench.results.best import best_rows
from coarsen.opencl_bench.results.exchange.tables import read_table
from coarsen.opencl_bench.studies.space_comparison import Comparison, comparisons, means
from coarsen.opencl_bench.sweep.confirmation import PROCESSES
from coarsen.opencl_bench.workloads.lookup import SUITE
from tests.opencl_bench.results.test_data import DATA, README, table_below

# The kernels that were measured so far on the GPU.
ON_H200 = {"binarySearch", "blackscholes", "convolution", "dwtHaar1D", "fastWalsh", "mt", "sgemm"}
KERNELS = {"pocl": {*SUITE}, "h200": ON_H200}
HEADINGS = {"pocl": "### PoCL, the larger space", "h200": "### NVIDIA H200, the larger space"}
every_sweep = pytest.mark.parametrize("sweep", list(KERNELS))


@functools.cache
def rows_of(sweep: str) -> tuple[Measurement, ...]:
    return tuple(read_table(DATA / f"larger_{sweep}.parquet"))


@functools.cache
def found(sweep: str) -> tuple[Comparison, ...]:
    old = [row for row in read_table(DATA / f"{sweep}.parquet") if row.environment.form == "opencl_c"]
    return comparisons(best_rows(old), best_rows(rows_of(sweep)))


@every_sweep
def test_no_row_is_there_twice_and_no_result_was_wrong(sweep: str) -> None:
    rows = rows_of(sweep)
    assert len({row.key for row in rows}) == len(rows)
    assert {row.invalidity for row in rows} <= {Invalidity.CORRECT, Invalidity.CONSTRAINTS, Invalidity.TIMEOUT}
    assert {row.subject.benchmark for row in rows} == KERNELS[sweep]
    assert {dict(row.environment.versions)["coarsen"] for row in rows} == {"0.2.0"}


@every_sweep
def test_every_best_configuration_was_confirmed_in_every_process(sweep: str) -> None:
    for each in found(sweep):
        assert each.kernel not in KERNELS[sweep] or (each.new is not None and each.new.processes == PROCESSES)


@every_sweep
def test_the_readme_says_which_configurations_are_best(sweep: str) -> None:
    shown = [list(each.cells) for each in found(sweep) if each.new]
    assert table_below(f"{HEADINGS[sweep]}\n") == shown


@every_sweep
def test_the_readme_says_what_is_won(sweep: str) -> None:
    before, after = means(found(sweep))
    helped = sum(each.new.is_coarsened for each in found(sweep) if each.new)
    sentence = f"{before:.2f} before and {after:.2f} now; coarsening helps {helped} of {len(KERNELS[sweep])}"
    section = README[README.index(HEADINGS[sweep]) :]
    assert sentence in " ".join(section.split())


@every_sweep
def test_how_many_rows_there_are(sweep: str) -> None:
    rows = rows_of(sweep)
    timed = sum(row.invalidity is Invalidity.CORRECT for row in rows)
    confirmed = sum(row.role is Role.CONFIRMATION for row in rows)
    section = README[README.index("## The larger space") :]
    assert f"`larger_{sweep}.parquet`: {len(rows)} rows, {timed} timed, {confirmed} of these confirmations" in (
        " ".join(section.split())
    )


def test_the_readme_says_what_the_same_against_itself_came_to() -> None:
    known = [(each.kernel, each.new.itself) for sweep in KERNELS for each in found(sweep) if each.new]
    apart = [(kernel, itself) for kernel, itself in known if itself is not None and itself.significant]
    ((kernel, gain),) = apart
    assert f"Of {len(known)} baselines" in README
    assert f"(`{kernel}` on PoCL: {gain.low:.3f} to {gain.high:.3f})" in " ".join(README.split())


def test_the_readme_says_what_was_given_up() -> None:
    given_up = {
        sweep: Counter(row.subject.benchmark for row in rows_of(sweep) if row.invalidity is Invalidity.TIMEOUT)
        for sweep in KERNELS
    }
    assert given_up["pocl"] == {"floydWarshall": 3, "mt": 28}
    assert given_up["h200"].total() == 4
    sentence = (
        "Three of `floydWarshall`'s and 28 of `mt`'s configurations on PoCL, and four on the H200, were given up"
    )
    assert sentence in " ".join(README.split())
