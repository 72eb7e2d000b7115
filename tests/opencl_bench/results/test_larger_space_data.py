"""The committed sweeps over the larger space are whole, and say what the README beside them says."""

from __future__ import annotations

import functools
import statistics
from collections import Counter

import pytest

from coarsen.opencl_bench.results.exchange.files import read_table
from coarsen.opencl_bench.results.frames import frame
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.engine.finalists import PROCESSES
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.variant.coarsening import Level
from coarsen.variant.variant import Variant
from tests.opencl_bench.results.best_rows import best_rows
from tests.opencl_bench.results.space_comparison import Comparison, comparisons, means
from tests.opencl_bench.results.test_data import DATA, README, table_below

ROOT = DATA.parents[1]
# The kernels that were measured so far on the GPU.
ON_H200 = {"binarySearch", "blackscholes", "convolution", "dwtHaar1D", "fastWalsh", "mt", "sgemm"}
KERNELS = {"intel": {*SUITE}, "pocl": {*SUITE}, "h200": ON_H200}
DEVICES = {"intel": "Intel's CPU runtime", "pocl": "PoCL", "h200": "NVIDIA H200"}
HEADINGS = {sweep: f"### {device}, the larger space" for sweep, device in DEVICES.items()}
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


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/explanation/reading-the-numbers.md"])
def test_the_pages_have_the_means_too(page: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    (_, intel), (_, pocl), (h200_before, h200) = (means(found(sweep)) for sweep in KERNELS)
    if page.endswith("reading-the-numbers.md"):
        assert f"| {pocl:.2f} | {intel:.2f} | {h200:.2f}, of seven kernels |" in text
        return
    assert f"wide accesses | {intel:.2f} | {pocl:.2f} | {h200:.2f} (7 kernels)" in text
    if page == "docs/index.md":
        assert f"By replication alone these seven reach {h200_before:.2f}." in text


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
    known = [
        (sweep, each.kernel, each.new.itself)
        for sweep in KERNELS
        for each in found(sweep)
        if each.new is not None and each.new.itself is not None
    ]
    apart = {
        (sweep, kernel): f"{gain.low:.3f} to {gain.high:.3f}" for sweep, kernel, gain in known if gain.significant
    }
    assert set(apart) == {("intel", "nbody"), ("pocl", "reduce")}
    text = " ".join(README.split())
    assert (
        f"Of {len(known)} baselines that were timed against themselves in three processes, two intervals" in text
    )
    assert (
        f"(`nbody` on Intel's runtime: {apart['intel', 'nbody']}, `reduce` on PoCL: {apart['pocl', 'reduce']})"
        in text
    )


def test_the_readme_names_the_baseline_without_a_number_against_itself() -> None:
    missing = [
        (sweep, each.kernel)
        for sweep in KERNELS
        for each in found(sweep)
        if each.new is not None and each.new.itself is None
    ]
    assert missing == [("intel", "sgemm")]
    assert "That of `sgemm` on Intel's runtime has no such number" in " ".join(README.split())


def test_the_readme_names_the_kernels_that_were_faster_before() -> None:
    slower = {
        sweep: [
            f"`{each.kernel}`"
            for each in found(sweep)
            if each.old is not None and each.new is not None and each.new.speedup.ratio < each.old.speedup.ratio
        ]
        for sweep in KERNELS
    }
    listed = {sweep: f"{', '.join(names[:-1])} and {names[-1]}" for sweep, names in slower.items() if names}
    assert set(listed) == {"intel", "pocl"}
    sentence = f"For {listed['pocl']} on PoCL, and for {listed['intel']} on Intel's runtime, *before* is larger"
    assert sentence in " ".join(README.split())


def test_the_readme_says_what_both_spaces_have() -> None:
    shared = {sweep: statistics.geometric_mean(largest_in_both(sweep).values()) for sweep in KERNELS}
    cpus = f"{shared['intel']:.2f} on Intel's runtime, {shared['pocl']:.2f} on PoCL"
    sentence = f"{cpus} and {shared['h200']:.2f} on the H200 with today's transforms"
    assert sentence in " ".join(README.split())


def largest_in_both(sweep: str) -> dict[str, float]:
    """The largest speed-up of each kernel in the space that both sweeps have, 1 at least, by comparisons alone."""
    largest = dict.fromkeys(KERNELS[sweep], 1.0)
    rows = rows_of(sweep)
    for row, ratio in zip(rows, frame(rows)["speedup"], strict=True):
        if row.role is Role.COMPARISON and row.invalidity is Invalidity.CORRECT and in_both_spaces(row.candidate):
            largest[row.subject.benchmark] = max(largest[row.subject.benchmark], ratio)
    return largest


def in_both_spaces(candidate: Variant) -> bool:
    if candidate.transforms.wide_accesses or len(candidate.coarsenings) > 1:
        return False
    return all(coarsening.level is Level.ITEM for coarsening in candidate.coarsenings)


def test_the_readme_says_what_was_given_up() -> None:
    given_up = {
        sweep: Counter(row.subject.benchmark for row in rows_of(sweep) if row.invalidity is Invalidity.TIMEOUT)
        for sweep in KERNELS
    }
    assert given_up["intel"] == {"mt": 28, "mriQ": 23, "sgemm": 12, "mvUncoal": 1, "stencil": 1}
    assert given_up["pocl"] == {"floydWarshall": 3, "mt": 28}
    assert given_up["h200"].total() == 4
    sentence = (
        "28 of `mt`'s, 23 of `mriQ`'s and 12 of `sgemm`'s rows, one of `mvUncoal`'s and one of `stencil`'s on "
        "Intel's runtime, three of `floydWarshall`'s and 28 of `mt`'s on PoCL, and four on the H200"
    )
    assert sentence in " ".join(README.split())
