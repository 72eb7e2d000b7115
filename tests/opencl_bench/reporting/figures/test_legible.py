"""What all figures of measurements promise a reader: their type, their titles, the sizes they are of."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pandas as pd
import pytest
from matplotlib.figure import Figure

from coarsen.opencl_bench.reporting.draw_curves import (
    columns_for,
    curve_points,
    curves_finding,
    draw_curves,
    series_order,
)
from coarsen.opencl_bench.reporting.sheet import PAGE_WIDTH, SMALLEST_SIZE, rendered
from tests.opencl_bench.reporting.figures.samples import (
    INTEL,
    NVIDIA,
    POCL,
    frame_of,
    row,
    sweep_frame,
)
from tests.opencl_bench.reporting.figures.writing import texts, written

Drawing = Callable[[pd.DataFrame], Figure]
DRAWINGS = (draw_curves,)
NVIDIA_PTX = NVIDIA | {"platform": "NVIDIA CUDA driver"}
LONG = "a_kernel_whose_name_is_longer_than_any_page_is_wide_and_then_some"


@pytest.fixture(scope="module")
def four_devices() -> pd.DataFrame:
    """The suite on four devices, of which two had other problem sizes."""
    rows = sweep_frame((POCL, INTEL, NVIDIA, NVIDIA_PTX))
    rows.loc[rows["device"] == NVIDIA["device"], "preset"] = "gpu"
    return rows


@pytest.fixture(scope="module")
def drawn(four_devices: pd.DataFrame) -> Callable[[Drawing], Figure]:
    """A figure of these, drawn once."""
    return functools.cache(lambda draw: draw(four_devices))


@pytest.mark.parametrize("draw", DRAWINGS)
def test_no_type_is_too_small_for_print(draw: Drawing, drawn: Callable[[Drawing], Figure]) -> None:
    figure = drawn(draw)
    assert min(text.get_fontsize() for text in texts(figure)) >= SMALLEST_SIZE
    assert figure.get_size_inches()[0] <= PAGE_WIDTH + 0.01


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_title_has_two_lines_at_most_and_nothing_of_it_is_lost(
    draw: Drawing, drawn: Callable[[Drawing], Figure]
) -> None:
    figure = drawn(draw)
    title = next(text for text in texts(figure) if text.get_fontweight() == "bold" and text.axes is None)
    assert title.get_text().count("\n") <= 1
    assert figure.get_label() in written(figure)


@pytest.mark.parametrize("draw", DRAWINGS)
def test_devices_of_different_sizes_stand_side_by_side(draw: Drawing, drawn: Callable[[Drawing], Figure]) -> None:
    text = written(drawn(draw))
    assert (
        "Problem sizes differ: preset gpu on NVIDIA H200 (OpenCL) and NVIDIA H200 (PTX); "
        "preset test on AMD EPYC (Intel) and AMD EPYC (PoCL)."
    ) in text


def test_the_same_sizes_need_no_word() -> None:
    rows = [row("mt", 2, preset="cpu"), row("mt", 2, preset="cpu", **POCL), row("nbody", 2, preset="gpu")]
    assert "Problem sizes" not in written(draw_curves(frame_of(rows)))


def test_a_long_name_is_cut_rather_than_small() -> None:
    figure = draw_curves(frame_of([row(LONG, 2, 2.0), *(row(name, 2) for name in "bcd")]))
    title = figure.axes[0].title
    assert title.get_fontsize() == SMALLEST_SIZE and title.get_text().endswith("…")
    assert LONG.startswith(title.get_text()[:-1])


@pytest.mark.parametrize("draw", DRAWINGS)
@pytest.mark.parametrize("name", ["cost$in$", r"$\frac{$", "a$b"])
def test_a_dollar_sign_in_a_name_is_no_formula(draw: Drawing, name: str) -> None:
    rows = sweep_frame((POCL, INTEL))
    rows = rows[rows["benchmark"].isin(["mt", "sgemm"])].replace({"benchmark": {"mt": name}})
    rows["device"] += name
    figure = draw(rows)
    assert not any(text.get_parse_math() for text in texts(figure))
    assert name in written(figure)
    assert rendered(figure, "svg", 30)


@pytest.mark.parametrize(
    ("kernels", "columns"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 3), (8, 4), (9, 5), (12, 4), (17, 5)]
)
def test_panels_leave_few_places_empty(kernels: int, columns: int) -> None:
    assert columns_for(kernels) == columns


def test_devices_whose_names_end_in_a_number_are_in_the_order_of_letters() -> None:
    names = ["stride 32", "NVIDIA GTX 480", "dimension 1", "AMD Radeon HD 5900", "stride 8"]
    assert sorted(names, key=series_order) == [
        *("dimension 1", "stride 8", "stride 32", "AMD Radeon HD 5900", "NVIDIA GTX 480"),
    ]


@pytest.mark.parametrize(
    ("rows", "by", "finding"),
    [
        (
            [row("mt", 2, 2.0), row("mt", 2, None, **POCL), row("mt", 2, 0.5, **NVIDIA)],
            "device",
            "Coarsening makes mt 2.00 times as fast on AMD EPYC (Intel) at factor 2, and does not help it on "
            "NVIDIA H200 (OpenCL); mt has no result on AMD EPYC (PoCL)",
        ),
        ([row("mt", 2, None)], "device", "mt has no result on AMD EPYC (Intel)"),
        (
            [row("mt", 2, 1.004, low=1.003, high=1.005)],
            "device",
            "Coarsening makes mt 1.004 times as fast on AMD EPYC (Intel) at factor 2",
        ),
        (
            [row("mt", 2, 1.5), row("mt", 4, 3.0, stride="8")],
            "stride",
            "Coarsening makes mt 3.00 times as fast on AMD EPYC (Intel) at factor 4 with stride 8",
        ),
        (
            [row("mt", 2, 3.0, dimension="1")],
            "dimension",
            "Coarsening makes mt 3.00 times as fast on AMD EPYC (Intel) at factor 2 along dimension 1",
        ),
        (
            [row("mt", 2, 0.5), row("nbody", 2, 1.0)],
            "device",
            "Coarsening helps none of 2 kernels on AMD EPYC (Intel)",
        ),
        (
            [row("mt", 2, 2.0), row("nbody", 2, None), row("reduce", 2, 2.0, stride="8")],
            "stride",
            "Coarsening helps 2 of 3 kernels (1 without a result) on AMD EPYC (Intel): stride 1 is best for 1 "
            "(1 with no other to choose) and stride 8 for 1 (1 with no other to choose)",
        ),
    ],
)
def test_titles_of_odd_curves(rows: list[dict[str, object]], by: str, finding: str) -> None:
    points = curve_points(frame_of(rows), by)  # type: ignore[arg-type]
    assert curves_finding(points, by) == finding  # type: ignore[arg-type]
