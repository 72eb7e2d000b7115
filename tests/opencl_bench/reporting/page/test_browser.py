"""The page in a real browser: quiet, at desktop and phone width, by mouse and by keyboard alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, ViewportSize

from coarsen.opencl_bench import Results
from coarsen.opencl_bench.reporting.page.extract import report_of
from coarsen.opencl_bench.reporting.page.page import page_of
from tests.browser import DESKTOP, PHONE, Open
from tests.opencl_bench.reporting.figures.sweeps import compared
from tests.opencl_bench.reporting.page.test_page import NASTY

SIZES = pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
POCL, OPENCL, PTX = "amd-epyc-pocl", "nvidia-h200-opencl", "nvidia-h200-ptx"
MOST_TABS = 200


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the target has the focus; a reader without a mouse has no other way."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            return
    pytest.fail(f"{target} can't be reached with Tab")


def shown(page: Page, table: str) -> set[tuple[str, str]]:
    rows = page.locator(f"#{table} tbody tr:visible")
    return {
        tuple(row)
        for row in rows.evaluate_all("all => all.map(each => [each.dataset.kernel, each.dataset.place])")
    }


@SIZES
def test_it_fits_and_everything_is_there(file: Path, open_page: Open, viewport: ViewportSize) -> None:
    page = open_page(file, viewport).page
    page.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    widths = page.locator(".chart img").evaluate_all("all => all.map(each => each.getBoundingClientRect().width)")
    assert 200 < min(widths) <= max(widths) < viewport["width"]
    assert page.locator(".chart img").evaluate_all("all => all.every(each => each.naturalWidth > 0)")
    sizes = page.locator(".tick").evaluate_all(
        "all => all.map(each => parseFloat(getComputedStyle(each).fontSize))"
    )
    assert min(sizes) >= 12


@SIZES
def test_the_first_screen_has_the_gains(file: Path, open_page: Open, viewport: ViewportSize) -> None:
    page = open_page(file, viewport).page
    rows = page.locator(".gain-rows li")
    assert rows.locator("> a").all_inner_texts() == ["spmv", "sobel"]
    lowest = rows.last.bounding_box()
    assert lowest is not None and lowest["y"] + lowest["height"] <= viewport["height"]
    widths = page.locator(".gain-line > svg").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().width)"
    )
    assert 150 < min(widths) == max(widths)
    page.locator("#devices [data-all]").evaluate("box => box.click()")
    assert page.locator(".gain-line:visible, .paste:visible").count() == 0


def test_the_filter_by_mouse_and_a_link_that_keeps_it(file: Path, open_page: Open) -> None:
    page = open_page(file, DESKTOP).page
    assert shown(page, "best") == {
        (kernel, place) for kernel in ("sobel", "spmv") for place in (POCL, OPENCL, PTX)
    }
    page.locator("#devices").get_by_label("PoCL").click()
    page.locator("#kernels").get_by_label("sobel").click()
    assert shown(page, "best") == {("spmv", OPENCL), ("spmv", PTX)}
    assert page.locator("article:visible").count() == 1
    assert page.locator(f"article:visible .chart[data-places='{POCL}']:visible").count() == 0
    assert page.locator("article:visible .chart:visible").count() == 2
    assert page.locator("#shown").inner_text() == "Shown: 2 of 3 devices, 1 of 2 kernels"
    fragment = page.evaluate("location.hash")
    again = open_page(file, PHONE, fragment).page
    assert shown(again, "best") == {("spmv", OPENCL), ("spmv", PTX)}
    assert again.locator("#devices [data-all]").evaluate("box => box.indeterminate")
    page.locator("#devices [data-all]").click()
    page.locator("#kernels [data-all]").click()
    assert page.evaluate("location.hash") == "" and len(shown(page, "best")) == 6
    page.locator("#kernels [data-all]").click()
    assert page.locator("#nothing").is_visible()


def test_a_link_to_a_kernel_keeps_the_filter(file: Path, open_page: Open) -> None:
    page = open_page(file, DESKTOP, f"#devices={POCL}").page
    page.locator("#best tbody tr:visible a").first.click()
    assert page.evaluate("location.hash") == f"#devices={POCL}&at=k-spmv"
    assert page.evaluate("document.activeElement.id") == "k-spmv"
    assert shown(page, "best") == {("sobel", POCL), ("spmv", POCL)}


def test_an_address_that_is_none_hides_nothing(file: Path, open_page: Open) -> None:
    page = open_page(file, DESKTOP, "#%&devices").page
    assert page.locator("#filter").is_visible()
    assert len(shown(page, "best")) == 6
    assert page.locator("#shown").inner_text() == "Shown: 3 of 3 devices, 2 of 2 kernels"


@SIZES
def test_everything_by_keyboard_alone(file: Path, open_page: Open, viewport: ViewportSize) -> None:
    page = open_page(file, viewport, "#kernels=spmv").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    if viewport == PHONE:
        tab_to(page, page.locator("#filter summary"))
        page.keyboard.press("Enter")
    tab_to(page, page.locator(f"#devices input[value={PTX}]"))
    page.keyboard.press("Space")
    assert shown(page, "best") == {("spmv", POCL), ("spmv", OPENCL)}
    speedup = page.locator("#best thead th").nth(2)
    tab_to(page, speedup.locator("button"))
    page.keyboard.press("Enter")
    assert speedup.get_attribute("aria-sort") == "descending"
    values = page.locator("#best tbody tr:visible td:nth-child(3)").evaluate_all(
        "all => all.map(e => +e.dataset.value)"
    )
    assert values == sorted(values, reverse=True)
    page.keyboard.press("Space")
    assert speedup.get_attribute("aria-sort") == "ascending"
    details = page.locator("article:visible details.fold:visible").first
    tab_to(page, details.locator("summary"))
    page.keyboard.press("Enter")
    assert details.locator("table").first.is_visible()


def test_without_scripts_everything_is_shown(file: Path, open_page: Open) -> None:
    page = open_page(file, PHONE, scripts=False).page
    assert len(shown(page, "best")) == 6
    assert not page.locator("#filter").is_visible()
    assert page.locator("article").count() == page.locator("article:visible").count() == 2
    assert page.locator(".chart img:visible").count() > 4
    page.locator("article details.fold summary").first.click()
    assert page.locator("article details.fold table").first.is_visible()


def test_pieces_of_html_do_nothing(open_page: Open, tmp_path: Path) -> None:
    rows = [compared(factor, 100 // factor, benchmark=NASTY, device=NASTY, reason=NASTY) for factor in (1, 2)]
    failed = compared(4, 0, benchmark=NASTY, device=NASTY, reason=NASTY)
    path = tmp_path / "nasty.html"
    path.write_text(page_of(report_of(Results((*rows, failed), NASTY))), encoding="utf-8")
    page = open_page(path, PHONE).page
    assert page.locator("article h3").inner_text() == NASTY
    assert page.locator("img:not(.chart img)").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
