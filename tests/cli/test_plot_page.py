"""`coarsen results plot -o PAGE.html`: what it writes, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.opencl_bench.results.exchange.files import write_table
from coarsen.tuning.store.database import open_store
from tests.opencl_bench.reporting.figures.sweeps import compared, two_devices

Run = Callable[..., Any]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A file with the sweeps of two kernels on two devices."""
    path = tmp_path / "results.parquet"
    write_table(two_devices(), path)
    return path


def test_from_a_file_and_from_a_store(results: Path, tmp_path: Path, run: Run) -> None:
    store = tmp_path / "store.sqlite"
    with open_store(str(store)) as opened:
        opened.add_all(two_devices())
    pages: list[str] = []
    for words in (("--from", results), ("--store", store)):
        path = tmp_path / f"page{len(pages)}.html"
        outcome = run("results", "plot", *words, "-o", path)
        assert (outcome.code, outcome.out, outcome.err) == (0, "", f"coarsen: note: written: {path}\n")
        html = path.read_text(encoding="utf-8")
        assert str(tmp_path) not in html
        pages.append(html.replace(words[1].name, "PLACE"))
    assert pages[0] == pages[1]
    assert pages[0].count('<article class="kernel"') == 2


def test_the_filters_hold(results: Path, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "page.html"
    assert run("results", "plot", "--from", results, "-d", "pocl", "-k", "sgemm", "-o", path, "-q").code == 0
    assert "<title>coarsen: 1 kernel on 1 device</title>" in path.read_text(encoding="utf-8")


def test_several_presets_go_into_one_page(tmp_path: Path, run: Run) -> None:
    source, path = tmp_path / "results.parquet", tmp_path / "page.html"
    rows = [compared(factor, 100 // factor, preset=preset) for factor in (1, 2) for preset in ("test", "cpu")]
    write_table(rows, source)
    assert run("results", "plot", "--from", source, "-o", path, "-q").code == 0
    assert ", preset cpu" in path.read_text(encoding="utf-8")
    assert run("results", "plot", "--from", source, "--preset", "cpu", "-o", path, "-q").code == 0
    assert ", preset cpu" not in path.read_text(encoding="utf-8")
