"""The page's text: self-contained, well-formed, and safe whatever names and reasons say."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markupsafe import escape

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench import Results, write_report
from coarsen.opencl_bench.reporting.page.content import Report
from coarsen.opencl_bench.reporting.page.extract import report_of, slugs
from coarsen.opencl_bench.reporting.page.page import _bar_axis, page_of
from coarsen.tuning.records.measurement import CheckedAgainst
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import REPLICATION_ALONE
from coarsen.variant.variant import Variant
from tests.opencl_bench.reporting.figures.sweeps import compared, two_devices

NASTY = "</script><script>alert('1')</script><img src=x onerror=\"alert(2)\">&amp;"
REPLICATED = Variant((64,), (Coarsening(2),), transforms=REPLICATION_ALONE)
VOID = {"meta", "input", "br", "img", "link"}


class Seen(HTMLParser):
    """Elements with their attributes, texts of scripts and styles, and whether every element was closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.raw: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.raw.append((self.open[-1], data))


@pytest.fixture(scope="module")
def seen(html: str) -> Seen:
    return Seen(html)


def test_every_element_is_closed_and_every_name_stands_once(seen: Seen) -> None:
    assert seen.open == []
    names = Counter(attributes["id"] for _, attributes in seen.elements if "id" in attributes)
    assert set(names.values()) == {1}
    for _, attributes in seen.elements:
        target = attributes.get("href", "#shown")
        assert target.startswith("#") and target[1:] in names
        assert attributes.get("aria-labelledby", "shown") in names


def test_nothing_is_loaded_from_elsewhere(html: str, seen: Seen) -> None:
    assert not {"srcset", "action", "data", "style"} & {name for _, found in seen.elements for name in found}
    sources = [(tag, found["src"]) for tag, found in seen.elements if "src" in found]
    assert sources and all(tag == "img" and text.startswith("data:image/png;base64,") for tag, text in sources)
    assert not any(name.startswith("on") for _, found in seen.elements for name in found)
    assert "http://" not in html and "https://" not in html and "@import" not in html and "url(" not in html
    assert {tag for tag, _ in seen.elements}.isdisjoint({"link", "iframe", "object", "embed", "base"})


def test_the_policy_lets_nothing_in_but_the_pages_own_style_and_script(seen: Seen) -> None:
    policy = next(found["content"] for tag, found in seen.elements if found.get("http-equiv"))
    assert policy.startswith("default-src 'none'; ")
    style, script = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for _, text in seen.raw)
    assert f"style-src 'sha256-{style}'" in policy
    assert f"script-src 'sha256-{script}'" in policy and "img-src data:" in policy


def test_landmarks_language_title_and_headings(html: str, seen: Seen) -> None:
    tags = [tag for tag, _ in seen.elements]
    assert all(tags.count(tag) == 1 for tag in ("header", "main", "footer", "nav", "aside", "form", "h1"))
    assert ("html", {"lang": "en"}) in seen.elements
    assert "<title>coarsen: 2 kernels on 2 devices in 3 ways</title>" in html
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(levels))


def test_results_come_before_their_explanation_and_the_largest_gain_first(html: str, report: Report) -> None:
    order = re.findall('<section id="([a-z]+)"', html)
    assert order == ["gains", "paste", "overview", "measured", "how", "each"]
    gains = [kernel.gain for kernel in report.kernels]
    assert gains == sorted(gains, reverse=True)
    assert [best.speedup.ratio for _, best in report.gains if best.speedup] == sorted(
        (
            best.speedup.ratio
            for kernel in report.kernels
            for best in kernel.best
            if best.is_coarsened and best.speedup
        ),
        reverse=True,
    )


def test_what_to_paste_is_on_the_page(html: str, report: Report) -> None:
    kernel, best = report.gains[0]
    assert len(best.paste) == 3
    assert best.paste[0].startswith("coarsen.Program(context, source, factor=")
    assert best.paste[1].startswith(f"coarsen apply {kernel.name}.cl --kernel ")
    assert all(escape(line) in html for line in best.paste)
    assert not any(other.paste for section in report.kernels for other in section.best if not other.is_coarsened)


def test_a_kernel_that_is_best_left_as_it_is() -> None:
    text = page_of(report_of(Results((compared(1, 100), compared(2, 120)), "here")))
    assert "Nothing is faster than its baseline: the kernels are best left as they are." in text
    assert "nothing is faster; leave it as it is (uncoarsened, local size 64)" in text
    assert "coarsen.Program" not in text and "geometric mean of" not in text


def test_a_gain_that_a_busy_machine_measured_is_shown_and_not_pasted() -> None:
    wide = {"nanoseconds": (200_000, 400_000, 500_000, 600_000, 900_000)}
    busy = (compared(1, 100), compared(2, 50, **wide))
    report = report_of(Results(busy, "here"))
    assert len(report.gains) == 1 and report.certain_gains == ()
    text = page_of(report)
    assert "No speed-up is certain: their intervals are too wide" in text
    assert "coarsen.Program(context" not in text
    quiet = (compared(1, 100, benchmark="nbody"), compared(4, 50, benchmark="nbody"))
    text = page_of(report_of(Results((*busy, *quiet), "here")))
    assert text.count("coarsen.Program(context") >= 1 and "No speed-up is certain" not in text


def test_no_mark_lies_beyond_the_last_tick_and_none_beside_the_axis() -> None:
    for percent, last in ((95, 1.25), (60, 2.0), (11, 10.0), (3, 50.0), (4, 30.0)):
        report = report_of(Results((compared(1, 100), compared(2, percent)), "here"))
        axis = _bar_axis(report)
        gain = report.gains[0][1].speedup
        assert gain is not None and axis.ticks[-1] == last >= gain.high
        assert 1.0 in axis.ticks and 0 <= axis.x(gain.low) <= axis.x(gain.high) <= axis.x(last) <= 100


def test_what_was_measured_with_replication_alone_says_so_where_it_is_pasted() -> None:
    words = "All that was measured here is replication alone"
    alone = (compared(1, 100), compared(2, 50, candidate=REPLICATED))
    assert words in page_of(report_of(Results(alone, "here")))
    assert words not in page_of(report_of(Results((compared(1, 100), compared(2, 50)), "here")))


@pytest.fixture(scope="module")
def nasty() -> str:
    """The page of a kernel, a device and reasons that are pieces of HTML."""
    rows = [
        compared(1, 100, benchmark=NASTY, device=NASTY),
        compared(2, 0, benchmark=NASTY, device=NASTY, reason=NASTY),
        compared(4, 50, benchmark=NASTY, device=NASTY),
    ]
    return page_of(report_of(Results(tuple(rows), NASTY)))


def test_names_and_reasons_are_text(nasty: str, seen: Seen) -> None:
    found = Seen(nasty)
    assert found.open == []
    assert {attributes["src"].partition(",")[0] for tag, attributes in found.elements if tag == "img"} == {
        "data:image/png;base64"
    }
    assert [tag for tag, _ in found.elements].count("script") == 1
    assert nasty.count("onerror=") > 3  # it is shown, as text


@pytest.mark.parametrize(
    ("percent", "oracle", "tag"),
    [
        (150, CheckedAgainst.NOTHING, "is the original"),
        (50, CheckedAgainst.NOTHING, "not verified"),
        (50, CheckedAgainst.UNCOARSENED, "verified against the uncoarsened kernel"),
        (50, CheckedAgainst.REFERENCE, None),
    ],
)
def test_what_the_best_was_verified_against(percent: int, oracle: CheckedAgainst, tag: str | None) -> None:
    rows = [compared(1, 100, oracle=oracle), compared(2, percent, oracle=oracle)]
    table = page_of(report_of(Results(tuple(rows), "here"))).partition('id="best"')[2].partition("</table>")[0]
    tags = {"is the original", "not verified", "verified against the uncoarsened kernel", "reference"}
    assert {each for each in tags if each in table} == ({tag} if tag else set())


def test_slugs_differ_and_need_no_escaping() -> None:
    names = ["AMD EPYC (PoCL)", "amd epyc pocl", "µ±", "", "Größe", NASTY]
    found = slugs(names)
    assert len(set(found.values())) == len(names)
    assert all(re.fullmatch("[a-z0-9-]+", slug) for slug in found.values())
    assert found["AMD EPYC (PoCL)"] == "amd-epyc-pocl"


def test_the_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    write_report(Results(tuple(two_devices()), "here"), path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InvalidInputError, match="it is a folder"):
        write_report(Results(tuple(two_devices()), "here"), tmp_path)
