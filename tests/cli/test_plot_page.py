"""`coarsen results plot -o PAGE.html`: what it writes, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.opencl_bench.results.exchange.files import write_table
from coarsen.tuning.store.database import open_store
from tests.opencl_bench.reporting.figures.sweeps import compared, two_devices
from tests.opencl_bench.reporting.tuned_files import tuned

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


def test_kernels_without_a_source_are_named(tmp_path: Path, run: Run) -> None:
    source, path = tmp_path / "results.parquet", tmp_path / "page.html"
    names = ["sgemm", *(f"mine{number}" for number in range(5))]
    write_table([compared(1, 100, benchmark=name) for name in names], source)
    written = f"coarsen: note: written: {path}"
    few = ("results", "plot", "--from", source, "-k", "sgemm", "-k", "mine0", "-k", "mine1", "-o", path)
    assert run(*few).err.splitlines() == [
        "coarsen: note: without source, for want of --descriptions FOLDER: mine0, mine1",
        written,
    ]
    assert ": mine0, mine1, mine2 and 2 more\n" in run("results", "plot", "--from", source, "-o", path).err
    assert run(*few, "-q").err == ""


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


@pytest.fixture
def tuned_file(tmp_path: Path) -> Path:
    """The tuned file of a kernel."""
    path = tmp_path / "scan.tuned.json"
    tuned().write(path)
    return path


def test_tuned_files_alone(tuned_file: Path, tmp_path: Path, run: Run) -> None:
    page = tmp_path / "page.html"
    outcome = run("results", "plot", "--from", tuned_file, "-o", page)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", f"coarsen: note: written: {page}\n")
    assert "<title>coarsen: 1 kernel tuned over inputs</title>" in page.read_text(encoding="utf-8")


def test_tuned_files_beside_measurements(results: Path, tuned_file: Path, tmp_path: Path, run: Run) -> None:
    page, other = tmp_path / "page.html", tmp_path / "other.tuned.json"
    other.write_bytes(tuned_file.read_bytes())
    words = ("--from", tuned_file, "--from", other)
    assert run("results", "plot", "--from", results, *words, "-d", "pocl", "-o", page, "-q").code == 0
    html = page.read_text(encoding="utf-8")
    assert "<title>coarsen: 2 kernels on 1 device, 2 kernels tuned over inputs</title>" in html


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-o", "x.html", "-d", "pocl"), "--kernel, --device and --preset choose measurements: give --store or"),
        (("-o", "x.html", "--over", "n"), "--over is not for a page"),
        (("--from", "other.tuned.json", "-o", "x.svg"), "a figure is of measurements or of one tuned file"),
        (("-o", "x.html", "--from", "missing.tuned.json"), "missing.tuned.json: "),
    ],
)
def test_refusals_with_tuned_files(words: tuple[str, ...], message: str, tuned_file: Path, run: Run) -> None:
    outcome = run("results", "plot", "--from", tuned_file, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(message)
    assert not Path("x.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-o", "x.html", "--by", "stride"), "--by is not for a page"),
        (("-o", "x.html", "--choice", "baseline"), "--choice is not for a page"),
        (("-o", "x.html", "-f", "json"), "--format is not for a page"),
        (("-o", "x.html", "--descriptions", "nowhere"), "--descriptions nowhere: there is no such folder"),
        (("-o", "/nowhere/x.html"), "/nowhere/x.html: can't be written: there is no folder /nowhere"),
        (("-o", "/dev/null/x.html"), "/dev/null/x.html: can't be written: there is no folder /dev/null"),
        (("-o", "x.html", "-k", "gemm"), "no measurement in "),
    ],
)
def test_refusals(words: tuple[str, ...], message: str, results: Path, run: Run) -> None:
    outcome = run("results", "plot", *words, "--from", results)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(message)
    assert not Path("x.html").exists()


def test_without_the_template_engine(results: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "jinja2" else object())
    outcome = run("results", "plot", "--from", results, "-o", "x.html")
    assert (outcome.code, outcome.error) == (2, "the page needs more packages: pip install 'coarsen[bench]'")
