"""What all figures share: axes, pages, files, windows, intervals."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot
import pytest
from matplotlib.figure import Figure

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.reporting.draw_curves import draw_curves
from coarsen.opencl_bench.reporting.sheet import (
    PAGE_HEIGHT,
    factor_axis,
    file_type,
    filled,
    legend_entry,
    page,
    power_of_two,
    rendered,
    save,
    series_style,
    speedup_axis,
    text_width,
)
from coarsen.opencl_bench.results.rows import frame_with_intervals
from tests.opencl_bench.reporting.figures.samples import frame_of, row
from tests.opencl_bench.reporting.figures.sweeps import compared

BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1"), (16, "16"), (0.25, "1/4"), (2**-6, "1/64"), (1.5, "1.5"), (0.7, "0.7")]
)
def test_numbers_of_a_logarithmic_axis(value: float, text: str) -> None:
    assert power_of_two(value) == text


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((0.98, 1.01), [0.9, 1.0, 1.1, 1.2]),
        ((0.6, 2.0), [0.7, 1.0, 1.4, 2.0]),
        ((0.1, 8.0), [0.125, 0.25, 0.5, 1, 2, 4, 8]),
        ((2.0**-9, 64.0), [2.0**-9, 2.0**-6, 2.0**-3, 1, 8, 64]),
        ((math.nan, 5.0), [1.0, 1.4, 2.0, 2.8, 4.0]),
    ],
)
def test_speedups_have_few_ticks_and_one_at_1(values: tuple[float, ...], ticks: list[float]) -> None:
    axes = Figure().subplots()
    speedup_axis(axes, values, room_below=0.2)
    assert list(axes.get_yticks()) == pytest.approx(ticks)
    low, high = axes.get_ylim()
    assert low < min(1, *(value for value in values if value == value)) and high > max(1, values[-1])


def test_room_below_the_values_stays_free() -> None:
    axes = Figure().subplots()
    speedup_axis(axes, [0.5, 2.0], room_below=0.25)
    low, high = map(math.log2, axes.get_ylim())
    assert low + 0.25 * (high - low) < -1.0


def test_factors_have_a_tick_each() -> None:
    axes = Figure().subplots()
    factor_axis(axes, [1, 2, 8, 2])
    assert list(axes.get_xticks()) == [1, 2, 8]


def test_text_is_filled_to_a_width() -> None:
    text = "a configuration that is best on one device and worst on another one"
    lines = filled(text, 1.5, 8)
    assert len(lines) > 2 and " ".join(lines) == text
    assert all(text_width(line, 8) <= 1.5 for line in lines)
    assert filled("", 1.0, 8) == []
    assert filled("incomprehensibilities", 0.1, 8) == ["incomprehensibilities"]
    assert filled("95 % at factor 8 along 1", 0.1, 8) == ["95 %", "at", "factor 8", "along 1"]


def test_a_page_is_no_higher_than_paper() -> None:
    sheet = page(4.0, 30.0, "A finding", "A note", [legend_entry("one", color="black")])
    assert sheet.figure.get_size_inches()[1] == pytest.approx(PAGE_HEIGHT)


def test_curves_differ_in_all_that_black_and_white_keeps() -> None:
    looks = [series_style(index) for index in range(7)]
    assert len({look.colour for look in looks}) == len({look.marker for look in looks}) == 7
    assert len({str(look.line) for look in looks}) == 7
    # Then colours come again, with other markers and lines.
    later = [series_style(index) for index in range(7, 49)]
    assert later[0].colour == looks[0].colour
    assert len({(look.colour, look.marker, str(look.line)) for look in (*looks, *later)}) == 49


@pytest.fixture(scope="module")
def figure() -> Figure:
    return draw_curves(frame_of([row("mt"), row("mt", 2, 2.0), row("mt", 4, None)]))


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_files(kind: str, figure: Figure, tmp_path: Path) -> None:
    path = tmp_path / f"figure.{kind.upper()}"
    save(figure, path)
    content = path.read_bytes()
    assert content.startswith(BEGINNINGS[kind])
    assert content == rendered(figure, file_type(path))
    again = draw_curves(frame_of([row("mt"), row("mt", 2, 2.0), row("mt", 4, None)]))
    assert content == rendered(again, file_type(path))
    assert b"Date" not in content and b"matplotlib.org/" not in content


def test_another_process_with_other_settings_draws_the_same_svg(figure: Figure) -> None:
    code = (
        "import matplotlib, sys\n"
        "matplotlib.rcParams.update({'font.size': 20, 'axes.grid': True, 'svg.hashsalt': 'other'})\n"
        "from coarsen.opencl_bench.reporting.draw_curves import draw_curves\n"
        "from coarsen.opencl_bench.reporting.sheet import rendered\n"
        "from tests.opencl_bench.reporting.figures.samples import frame_of, row\n"
        "rows = frame_of([row('mt'), row('mt', 2, 2.0), row('mt', 4, None)])\n"
        "sys.stdout.buffer.write(rendered(draw_curves(rows), 'svg'))\n"
    )
    root = Path(__file__).parents[4]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=root)
    assert done.stdout == rendered(figure, "svg")


def test_drawing_leaves_the_users_settings_alone(figure: Figure) -> None:
    with matplotlib.rc_context({"font.size": 31.0}):
        draw_curves(frame_of([row("mt")]))
        rendered(figure, "png")
        assert matplotlib.rcParams["font.size"] == 31.0


@pytest.mark.parametrize("name", ["figure.gif", "figure", "svg"])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        file_type(Path(name))
    assert str(caught.value) == f"{name}: a figure's file ends in .png, .svg or .pdf"


def test_a_folder_that_is_not_there(figure: Figure, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="can't be written: No such file or directory"):
        save(figure, tmp_path / "nowhere" / "figure.svg")


def test_intervals_only_where_asked_for() -> None:
    measurements = [compared(1, 100), compared(2, 50), compared(4, 99), compared(8, 0)]
    rows = frame_with_intervals(measurements, lambda rows: rows.loc[rows["factor"].isin([2, 8]), "key"])
    assert rows["speedup"].tolist()[:2] == pytest.approx([1.0, 2.0])
    assert rows["low"].notna().tolist() == rows["high"].notna().tolist() == [False, True, False, False]
    assert rows["tie"].tolist() == [False] * 4
    everything = frame_with_intervals(measurements, lambda rows: rows["key"])
    assert everything["tie"].tolist() == [True, False, False, False]
