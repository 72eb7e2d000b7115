"""Kernels tuned over inputs on the page: what it says of them, and where it is drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.dispatch.tuned_file import JSON
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench import Results, write_report
from coarsen.opencl_bench.reporting.page.content import Report, TunedSection
from coarsen.opencl_bench.reporting.page.page import number_text, page_of, tuned_sections
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
    return page_of(Report("here", 0, "", "", (), (), tuned=sections))


def test_a_section_has_versions_worth_rules_and_charts(paths: tuple[Path, Path]) -> None:
    one, two = tuned_sections(paths)
    assert (one.name, two.name) == ("scan (scan.tuned.json)", "scan (shapes.tuned.json)")
    assert [one.roles(row.number) for row in one.versions] == [("the default", "fixed best"), (), ()]
    assert [row.chosen for row in one.versions] == [4, 1, 0] and one.chosen == 2
    gain = (SECONDS[4][0] / SECONDS[4][1]) ** (1 / 5)
    assert one.worth.over_default == one.worth.over_fixed == pytest.approx(gain)
    assert one.worth.share == pytest.approx(1)
    assert [(times.feature, times.is_relative) for times in one.charts] == [("n", False)]
    assert [(times.feature, times.is_relative) for times in two.charts] == [
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
    assert html.count("data:image/png;base64,") == 3
    assert "<code>if length &lt;= 5000:\n" in html and "\norder = supplied by the caller</code>" in html
    assert "<li>Over n, version 0 is known to be faster up to 256, version 1 from 2¹⁶ on.</li>" in html
    assert html.count(" is known to be faster up to ") == 2


def page_with(path: Path, **evidence: JSON) -> str:
    """The page of a file with more evidence."""
    replace(tuned(), evidence={**tuned().evidence, **evidence}).write(path)
    return page_of_tuned(tuned_sections([path]))


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
    assert found.open == []
    pictures = [found["src"] for tag, found in found.elements if tag == "img"]
    assert len(pictures) == 1 and pictures[0].startswith("data:image/png;base64,")
    assert [tag for tag, _ in found.elements].count("script") == 1


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


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1"), (4096.0, "4096"), (65536, "2¹⁶"), (65537, "65537"), (0.125, "0.125"), (-3, "-3")]
)
def test_numbers_of_the_axis(value: float, text: str) -> None:
    assert number_text(value) == text
