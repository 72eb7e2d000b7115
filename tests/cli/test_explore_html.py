"""`coarsen explore --html`: what it writes, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.opencl_bench.results.exchange.tables import write_table
from coarsen.opencl_bench.results.store.database import open_store
from tests.opencl_bench.reporting.figures.sweeps import compared, two_devices
from tests.opencl_bench.reporting.tuned_files import tuned

Run = Callable[..., Any]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A CSV file with the sweeps of two kernels on two devices."""
    path = tmp_path / "results.csv"
    write_table(two_devices(), path)
    return path


def test_from_a_file_and_from_a_store(results: Path, tmp_path: Path, run: Run) -> None:
    store = tmp_path / "store.sqlite"
    with open_store(str(store)) as opened:
        opened.add_all(two_devices())
    pages: list[str] = []
    for words in (("--from", results), ("--store", store)):
        path = tmp_path / f"page{len(pages)}.html"
        outcome = run("explore", *words, "--html", path)
        assert (outcome.code, outcome.out, outcome.err) == (0, "", f"coarsen: note: written: {path}\n")
        html = path.read_text(encoding="utf-8")
        assert str(tmp_path) not in html
        pages.append(html.replace(words[1].name, "PLACE"))
    assert pages[0] == pages[1]
    assert pages[0].count('<article class="kernel"') == 2


def test_kernels_without_a_source_are_named(tmp_path: Path, run: Run) -> None:
    source, path = tmp_path / "results.csv", tmp_path / "page.html"
    names = ["sgemm", *(f"mine{number}" for number in range(5))]
    write_table([compared(1, 100, benchmark=name) for name in names], source)
    written = f"coarsen: note: written: {path}"
    few = ("explore", "--from", source, "-b", "sgemm", "-b", "mine0", "-b", "mine1", "--html", path)
    assert run(*few).err.splitlines() == [
        "coarsen: note: the page has no source of mine0, mine1; --kernels FOLDER names the "
        "folder with descriptions (NAME.toml)",
        written,
    ]
    assert " of mine0, mine1, mine2 and 2 more; " in run("explore", "--from", source, "--html", path).err
    assert run(*few, "-q").err == ""
    assert run(*few, "--kernels", tmp_path).err.splitlines() == [
        "coarsen: note: the page has no source of mine0, mine1; it says why",
        written,
    ]


def test_the_filters_hold(results: Path, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "page.html"
    assert run("explore", "--from", results, "-d", "pocl", "-b", "sgemm", "--html", path, "-q").code == 0
    assert "<title>coarsen: 1 kernel on 1 device</title>" in path.read_text(encoding="utf-8")


def test_several_presets_go_into_one_page(tmp_path: Path, run: Run) -> None:
    source, path = tmp_path / "results.csv", tmp_path / "page.html"
    rows = [compared(factor, 100 // factor, preset=preset) for factor in (1, 2) for preset in ("test", "cpu")]
    write_table(rows, source)
    assert run("explore", "--from", source, "--html", path, "-q").code == 0
    assert ", preset cpu" in path.read_text(encoding="utf-8")
    assert run("explore", "--from", source, "--preset", "cpu", "--html", path, "-q").code == 0
    assert ", preset cpu" not in path.read_text(encoding="utf-8")


@pytest.fixture
def tuned_file(tmp_path: Path) -> Path:
    """The tuned file of a kernel."""
    path = tmp_path / "scan.tuned.json"
    tuned().write(path)
    return path


def test_tuned_files_alone(tuned_file: Path, tmp_path: Path, run: Run) -> None:
    page = tmp_path / "page.html"
    outcome = run("explore", "--inputs", tuned_file, "--html", page)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", f"coarsen: note: written: {page}\n")
    assert "<title>coarsen: 1 kernel tuned over inputs</title>" in page.read_text(encoding="utf-8")


def test_tuned_files_beside_measurements(results: Path, tuned_file: Path, tmp_path: Path, run: Run) -> None:
    page, other = tmp_path / "page.html", tmp_path / "other.tuned.json"
    other.write_bytes(tuned_file.read_bytes())
    words = ("--inputs", tuned_file, "--inputs", other)
    assert run("explore", "--from", results, *words, "-d", "pocl", "--html", page, "-q").code == 0
    html = page.read_text(encoding="utf-8")
    assert "<title>coarsen: 2 kernels on 1 device, 2 kernels tuned over inputs</title>" in html


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--html", "x.html", "-d", "pocl"), "-d choose measurements: give --store or --from as well"),
        (("--html", "x.html", "--over", "n"), "--over goes with --inputs and a figure"),
        (("--inputs", "other.tuned.json", "-o", "x.svg"), "a figure is of one tuned file: give --inputs once, or"),
        (("--html", "x.html", "--inputs", "missing.tuned.json"), "missing.tuned.json: "),
    ],
)
def test_refusals_with_tuned_files(words: tuple[str, ...], message: str, tuned_file: Path, run: Run) -> None:
    outcome = run("explore", "--inputs", tuned_file, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(message)
    assert not Path("x.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("curves", "--html", "x.html"), "--html writes a page of its own; leave out FIGURE"),
        (("--html", "x.html", "-o", "x.svg"), "--html writes a page of its own; leave out -o"),
        (("curves", "--html", "x.html", "--show"), "--html writes a page of its own; leave out FIGURE and --show"),
        (("--html", "x.html", "--by", "device"), "--html writes a page of its own; leave out --by"),
        (
            ("--html", "x.html", "--choice", "best", "--by", "stride"),
            "--html writes a page of its own; leave out --by and --choice",
        ),
        (("--html", "x.html", "-f", "json"), "--html writes a page of its own; leave out -f json"),
        (("--kernels", "."), "--kernels is for --html"),
        (("--html", "x.html", "--kernels", "nowhere"), "--kernels nowhere: there is no such folder"),
        (("--html", "/nowhere/x.html"), "/nowhere/x.html: can't be written: there is no folder /nowhere"),
        (("--html", "/dev/null/x.html"), "/dev/null/x.html: can't be written: there is no folder /dev/null"),
        (("--html", "/"), "/: can't be written: it is a folder"),
        (("--html", "x.html", "-b", "gemm"), "no measurement in "),
    ],
)
def test_refusals(words: tuple[str, ...], message: str, results: Path, run: Run) -> None:
    outcome = run("explore", *words, "--from", results)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(message)
    assert not Path("x.html").exists()


def test_without_the_template_engine(results: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "jinja2" else object())
    outcome = run("explore", "--from", results, "--html", "x.html")
    assert (outcome.code, outcome.error) == (2, "the page needs one more package: pip install 'coarsen[bench]'")
