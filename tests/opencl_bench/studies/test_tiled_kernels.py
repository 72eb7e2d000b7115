"""The page about tiles has the figures of the stored rows, and its kernels have tiles where it says so."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.studies.tiled_kernels import COLUMNS, KERNELS, main
from coarsen.pipeline import run_pipeline
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import Tile, Transforms
from coarsen.variant.variant import Variant

BENCH = Path(__file__).parents[3] / "opencl_bench"
NAMES = {"NVIDIA H200": "H200", "AMD EPYC": "Intel", "pthread-skylake-avx512-AMD EPYC": "PoCL"}
WITHOUT = {"correlation", "stencil5", "stencil7"}


def rows() -> list[dict[str, str]]:
    with (BENCH / "data" / "tiles.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def lines() -> Iterator[str]:
    """The table: how many times as fast as its own launch each kernel is, without tiles and with them."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows():
        key = NAMES[row["device"]], row["kernel"], row["n"]
        found.setdefault(key, {})[row["tiles"]] = float(row["ratio"])
    for (device, kernel, n), ratios in found.items():
        if len(ratios) == 2:
            gain = ratios["yes"] / ratios["no"]
            yield f"| {device} | `{kernel}` | {n} | {ratios['no']:.2f} | {ratios['yes']:.2f} | {gain:.2f} |"


def test_the_page_has_the_figures_of_the_rows() -> None:
    page = (BENCH / "README.md").read_text()
    for line in lines():
        assert line in page
    for row in rows():
        if row["tflops"]:
            share = float(row["tflops"]) / float(row["cublas_tflops"])
            assert f"**{share:.2f}** at {row['n']}²" in page, row


def test_rows_have_the_columns_that_the_script_writes() -> None:
    assert {*rows()[0]} == {*COLUMNS}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_have_tiles_where_the_page_says_so(name: str) -> None:
    plain = KERNELS[name]
    local = tuple(2 * extent if place == 0 else extent for place, extent in enumerate(plain.local))
    variant = Variant(local, (Coarsening(2, stride=16),), transforms=Transforms(tile=Tile("16"), distinct=True))
    try:
        made = run_pipeline(lower(plain.source, "k"), variant)
    except RefusalError:
        made = None
    assert (made is not None) == (name not in WITHOUT)


def test_a_kernel_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["tiled_kernels", "intel", "nothing"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "there is no kernel 'nothing'" in capsys.readouterr().err
