"""The table of best configurations and its geometric means."""

from __future__ import annotations

import math

import pytest

from coarsen.opencl_bench.results.rows import best_table, geometric_means
from tests.opencl_bench.reporting.figures.samples import INTEL, POCL, frame_of, row

A_IS_2 = {"definitions": "A=2", "baseline": "64, -D A=2"}
ROWS = (
    *(row("mt", 1, 1.0), row("mt", 2, 4.0), row("mt", 4, None), row("mt", 8, None, invalidity="constraints")),
    *(row("nbody", 1, 1.0, **A_IS_2), row("nbody", 2, 0.5, oracle="uncoarsened", **A_IS_2)),
    row("mt", 2, None, **POCL),
    # Nothing but the search for a baseline so far.
    row("reduce", 1, 1.0, role="selection", **INTEL),
)


def test_the_best_of_each_kernel_on_each_device() -> None:
    table = best_table(frame_of(ROWS)).set_index(["benchmark", "label"])
    assert list(table.index) == [
        *(("mt", "AMD EPYC (Intel)"), ("mt", "AMD EPYC (PoCL)")),
        *(("nbody", "AMD EPYC (Intel)"), ("reduce", "AMD EPYC (Intel)")),
    ]
    best = table.loc[("mt", "AMD EPYC (Intel)")]
    assert best["configuration"] == "factor 2 along dimension 0, local size 64"
    assert (best["baseline"], best["factor"], best["speedup"], best["tie"]) == ("64", 2, 4.0, False)
    assert best[["configurations", "measured", "excluded", "failed"]].tolist() == [4, 2, 1, 1]
    uncoarsened = table.loc[("nbody", "AMD EPYC (Intel)")]
    assert (uncoarsened["baseline"], uncoarsened["factor"], uncoarsened["tie"]) == ("64, -D A=2", 1, True)


@pytest.mark.parametrize(
    ("case", "configurations"), [(("mt", "AMD EPYC (PoCL)"), 1), (("reduce", "AMD EPYC (Intel)"), 0)]
)
def test_a_kernel_without_a_result_keeps_its_line(case: tuple[str, str], configurations: int) -> None:
    nothing = best_table(frame_of(ROWS)).set_index(["benchmark", "label"]).loc[case]
    assert math.isnan(nothing["speedup"])
    assert (nothing["configuration"], nothing["oracle"], nothing["factor"]) == ("", "", 0)
    assert (nothing["configurations"], nothing["measured"]) == (configurations, 0)


def test_the_confirmation_is_what_counts() -> None:
    again = {"role": "confirmation", "started_at": "2026-11-20T13:00:00+00:00"}
    table = best_table(frame_of([row("mt", 1), row("mt", 2, 3.0), row("mt", 2, 2.0, **again, key="again")]))
    best = table.iloc[0]
    assert (best["speedup"], best["key"], best["configurations"]) == (2.0, "again", 2)


def test_before_any_comparison() -> None:
    table = best_table(frame_of([row("mt", role="selection")]))
    assert table[["label", "benchmark", "configurations"]].to_numpy().tolist() == [["AMD EPYC (Intel)", "mt", 0]]
    assert geometric_means(table)["measured"].tolist() == [0]


def test_geometric_means() -> None:
    means = geometric_means(best_table(frame_of(ROWS))).set_index("label")
    intel = means.loc["AMD EPYC (Intel)"]
    assert intel["speedup"] == pytest.approx(2.0)
    assert intel[["measured", "helped", "kernels"]].tolist() == [2, 1, 3]
    pocl = means.loc["AMD EPYC (PoCL)"]
    assert math.isnan(pocl["speedup"]) and pocl[["measured", "helped", "kernels"]].tolist() == [0, 0, 1]


def test_a_gain_of_another_layout_is_counted_as_such() -> None:
    rows = [row("mt", 1), row("mt", 2, 1.2), row("mt", 1, 1.9, arrays="bodies as soa", key="soa"), row("sobel", 1)]
    table = best_table(frame_of(rows))
    assert table.set_index("benchmark").loc["mt", ["factor", "arrays"]].tolist() == [1, "bodies as soa"]
    (means,) = geometric_means(table).to_dict("records")
    assert (means["helped"], means["laid_out"], means["kernels"]) == (0, 1, 2)
