"""Kernels tuned over inputs on the page: what it says of them, and where it is drawn."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.dispatch.tuned_file import JSON
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench import Results, write_report
from coarsen.opencl_bench.inputs.evidence import LeftOpenTimes
from coarsen.opencl_bench.reporting.page.content import Report, TunedSection
from coarsen.opencl_bench.reporting.page.page import page_of
from coarsen.opencl_bench.reporting.page.tuned import (
    HEIGHT,
    DrawnInputs,
    drawn_inputs,
    label_rows,
    number_text,
    tuned_sections,
)
from tests.opencl_bench.reporting.figures.sweeps import two_devices
from tests.opencl_bench.reporting.page.test_page import NASTY, Seen
from tests.opencl_bench.reporting.tuned_files import SECONDS, tuned, tuned_over_shapes


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    """The files of a kernel with one size, and of one with two."""
    found = tmp_path / "scan.tuned.json", tmp_path / "shapes.tuned.json"
    for path, file in zip(found, (tuned(), tuned_over_shapes()), strict=True):
        file.write(path)
    return found


def page_of_tuned(sections: tuple[TunedSection, ...]) -> str:
    return page_of(Report("here", 0, "", "", 0, (), (), tuned=sections))


def test_a_section_has_versions_worth_rules_and_charts(paths: tuple[Path, Path]) -> None:
    one, two = tuned_sections(paths)
    assert (one.name, two.name) == ("scan (scan.tuned.json)", "scan (shapes.tuned.json)")
    assert one.rules[0] == "if length <= 5000:" and one.features[1] == "order = supplied by the caller"
    assert [row.roles for row in one.versions] == [("the default", "fixed best"), (), ()]
    assert [row.worth.chosen for row in one.versions] == [4, 1, 0] and one.chosen == 2
    gain = (SECONDS[4][0] / SECONDS[4][1]) ** (1 / 5)
    assert one.worth.over_default == one.worth.over_fixed == pytest.approx(gain)
    assert one.worth.share == pytest.approx(1)
    assert [(chart.times.feature, chart.is_relative) for chart in one.charts] == [("n", False)]
    assert [(chart.times.feature, chart.is_relative) for chart in two.charts] == [
        ("width", False),
        ("width", True),
    ]


def test_the_page_of_tuned_files_alone(paths: tuple[Path, Path]) -> None:
    html = page_of_tuned(tuned_sections(paths))
    seen = Seen(html)
    assert seen.open == []
    names = Counter(found["id"] for _, found in seen.elements if "id" in found)
    assert set(names.values()) == {1} and {"inputs", "tuned-0", "tuned-1"} <= set(names)
    assert not {"filter", "gains", "best", "each"} & set(names)
    assert {found["href"][1:] for _, found in seen.elements if "href" in found} <= set(names)
    assert "<title>coarsen: 2 kernels tuned over inputs</title>" in html
    assert html.count('class="band"') == 1 + 2 + 1  # a key in each legend
    assert html.count('class="halo fixed"') > 4 and "Held: height = 8." in html
    numbers = json.loads(next(text for tag, text in seen.raw if tag == "script"))
    assert numbers["kernels"] == [] and numbers["tuned"][0]["charts"][0]["times"]["break_evens"][0]["low"] == 256


def page_with(path: Path, **evidence: JSON) -> str:
    """The page of a file with more evidence."""
    replace(tuned(), evidence={**tuned().evidence, **evidence}).write(path)
    return page_of_tuned(tuned_sections([path]))


def test_the_driver_s_local_size_is_told_beside_the_default(tmp_path: Path) -> None:
    path = tmp_path / "scan.tuned.json"
    words = "as fast as the default with a local size that the driver chooses"
    html = page_with(path, left_open=LeftOpenTimes(tuple(3 * row[0] for row in SECONDS), (0,) * 5).to_json())
    gain = 3 * (SECONDS[4][0] / SECONDS[4][1]) ** (1 / 5)
    assert f"<strong>{gain:.2f}×</strong> {words}" in html
    html = page_with(path, left_open={"reason": "the buffers depend on <it>"})
    assert words not in html and "the driver chooses: the buffers depend on &lt;it&gt;." in html


def test_cold_caches_are_told(tmp_path: Path) -> None:
    path = tmp_path / "scan.tuned.json"
    flushed = "The caches were flushed before every timed run."
    assert flushed not in page_with(path) and flushed in page_with(path, cold_cache=True)


def test_a_page_of_both_has_all_sections(paths: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    write_report(Results(tuple(two_devices()), "here"), page, tuned=paths)
    html = page.read_text(encoding="utf-8")
    assert html.index('id="gains"') < html.index('id="inputs"') < html.index('id="each"')
    assert "here, scan.tuned.json, shapes.tuned.json" in html and str(tmp_path) not in html
    assert "2 kernels on 2 devices, 2 kernels tuned over inputs" in html


def test_one_version_that_is_always_chosen_is_said(tmp_path: Path) -> None:
    path = tmp_path / "scan.tuned.json"
    tuned(threshold=1e9).write(path)
    assert "Not input-sensitive: one version suffices." in page_of_tuned(tuned_sections([path]))


def test_names_are_text(tmp_path: Path) -> None:
    path = tmp_path / "<img src=x>.tuned.json"
    tuned(device=NASTY).write(path)
    found = Seen(page_of_tuned(tuned_sections([path])))
    assert found.open == [] and "img" not in {tag for tag, _ in found.elements}
    assert [tag for tag, _ in found.elements].count("script") == 2


def test_what_can_be_no_page_is_refused(paths: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    with pytest.raises(InvalidInputError, match="given twice"):
        write_report(None, page, tuned=(paths[0], paths[0]))
    with pytest.raises(InvalidInputError, match="needs measurements or tuned files"):
        write_report(None, page)
    bare = tmp_path / "bare.tuned.json"
    bare.write_text(paths[0].read_text().replace('"seconds"', '"hours"'))
    with pytest.raises(InvalidInputError, match=r"bare.tuned.json: the tuned file keeps no times"):
        write_report(None, page, tuned=[bare])
    assert not page.exists()


@pytest.fixture
def charts(paths: tuple[Path, Path]) -> tuple[DrawnInputs, ...]:
    return tuple(drawn_inputs(chart) for section in tuned_sections(paths) for chart in section.charts)


def test_everything_is_inside_of_its_chart(charts: tuple[DrawnInputs, ...]) -> None:
    for chart in charts:
        assert 2 <= len(chart.ticks) <= 6 and 2 <= len(chart.columns) <= 6
        places = [(spot.x, spot.y) for curve in chart.curves for spot in curve.spots]
        assert all(0 < x < 100 and 0 < y < HEIGHT for x, y in places)
        assert all(0 <= y <= HEIGHT for _, y in chart.ticks) and all(0 < x < 100 for _, x in chart.columns)


def test_names_of_brackets_have_room_or_are_left_to_the_pointer(tmp_path: Path) -> None:
    # Lengths are 1, 16, 256, …, a fifth of the width apart: names of neighbours fit into one row.
    path = tmp_path / "scan.tuned.json"
    tuned([[1, 2, 3], [2, 1, 3]] * 2 + [[1, 2, 3]]).write(path)
    ((chart,),) = (section.charts for section in tuned_sections([path]))
    drawn = drawn_inputs(chart)
    assert [each.label for each in drawn.brackets] == ["0 → 1", "1 → 0", "0 → 1", "1 → 0"]
    assert len({each.y for each in drawn.brackets}) == 1
    assert label_rows([10, 20, 24, 34, 34.5]) == [0, 1, 0, 1, None]


def test_brackets_stand_from_end_to_end_and_say_what_is_known(charts: tuple[DrawnInputs, ...]) -> None:
    first, section, relative = charts
    (bracket,) = first.brackets
    spots = first.curves[0].spots
    assert (bracket.x1, bracket.x2) == (spots[2].x, spots[4].x) and bracket.label == "0 → 1"
    assert bracket.text == (
        "break-even: version 0 is known to be faster up to 256, version 1 from 2¹⁶ on; at 1 size between neither "
        "is; uncertain by 8 octaves"
    )
    assert "nothing between was measured; uncertain by 2 octaves" in section.brackets[0].text
    assert relative.brackets == ()


def test_spots_say_what_they_are(charts: tuple[DrawnInputs, ...]) -> None:
    first, _, relative = charts
    last = first.curves[1].spots[-1]
    assert last.text == "version 1 (chosen), n 2¹⁶: 23.7 µs, 1.00 times as long as the fastest" and last.is_chosen
    failed = first.curves[2].spots[0]
    assert not failed.has_time and failed.text.endswith("no time, it failed or breaks a constraint")
    assert len(first.curves[2].lines) == 2
    inside = relative.curves[0].spots[0]
    assert inside.text.startswith("version 0 (the default, fixed best, chosen), width 16 (height=8 width=16): ")


def test_the_axis_across_is_logarithmic(charts: tuple[DrawnInputs, ...]) -> None:
    places = [spot.x for spot in charts[1].curves[0].spots]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.02)


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1"), (4096.0, "4096"), (65536, "2¹⁶"), (65537, "65537"), (0.125, "0.125"), (-3, "-3")]
)
def test_numbers_of_the_axis(value: float, text: str) -> None:
    assert number_text(value) == text
