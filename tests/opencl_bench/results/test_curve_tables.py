"""Curves from tables of runtimes and of best factors, and what is said of tables that are wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.measured_curves import CurveData, merged, read_curves, shipped_files

RUNTIMES = """\
kernel,factor,fermi_ns,cypress_ns
sgemm,1,1000,3000
sgemm,2,500,
sgemm,4,250.0,1500
nbody,1,80,
nbody,2,100,
"""
BEST = """\
kernel,device,predicted_factor,best_factor
sgemm,fermi,8,32
sgemm,tahiti,2,16
"""


def read(folder: Path, text: str, name: str = "table.csv") -> CurveData:
    path = folder / name
    path.write_text(text)
    return read_curves(str(path))


def error(folder: Path, text: str) -> str:
    """The one line that a wrong table gives, without its file's name."""
    with pytest.raises(InvalidInputError) as caught:
        read(folder, text)
    message = str(caught.value)
    assert message.startswith(f"{folder / 'table.csv'}") and "\n" not in message
    return message.removeprefix(f"{folder / 'table.csv'}").lstrip(":, ")


def test_runtimes(tmp_path: Path) -> None:
    data = read(tmp_path, RUNTIMES)
    assert {curve.place: curve.speedup for curve in data.curves} == {
        ("sgemm", "fermi", 0): {2: 2.0, 4: 4.0},
        ("sgemm", "cypress", 0): {4: 2.0},
        ("nbody", "fermi", 0): {2: 0.8},
    }
    assert [curve.best_factor for curve in data.curves] == [4, 4, 1]
    assert all(curve.local_size is None for curve in data.curves)


def test_tables_need_no_pyarrow(tmp_path: Path) -> None:
    """What trains a cascade has PyTorch, but not what reads results."""
    table = tmp_path / "table.csv"
    table.write_text(BEST)
    script = (
        "import sys; sys.modules.update(pyarrow=None, sqlalchemy=None)\n"
        "from coarsen.opencl_bench.results.measured_curves import read_curves\n"
        "print(len(read_curves(sys.argv[1]).curves))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(table)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2\n", "")


def test_best_factors(tmp_path: Path) -> None:
    data = read(tmp_path, BEST)
    assert [(curve.place, curve.best_factor, curve.speedup) for curve in data.curves] == [
        (("sgemm", "fermi", 0), 32, {}),
        (("sgemm", "tahiti", 0), 16, {}),
    ]
    assert data.predicted == {("sgemm", "fermi"): 8, ("sgemm", "tahiti"): 2}


def test_best_factors_without_predictions(tmp_path: Path) -> None:
    data = read(tmp_path, "kernel,device,best_factor\nmt,fermi,4\n")
    assert (len(data.curves), data.predicted) == (1, {})


def test_spaces_blank_lines_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    data = read(tmp_path, "\ufeffkernel, factor, fermi_ns\n\nmt, 1, 10\n mt ,2, 5\n")
    assert [curve.speedup for curve in data.curves] == [{2: 2.0}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the table has no rows"),
        ("kernel,factor,fermi_ns\n", "the table has no rows"),
        ("kernel,factor\nmt,1\n", "the columns are neither those of runtimes"),
        ("kernel,time\nmt,1\n", "the columns are neither those of runtimes"),
        ("kernel,factor,fermi\nmt,1,2\n", "the column 'fermi' is no device's: DEVICE_ns"),
        ("kernel,factor,_ns\nmt,1,2\n", "the column '_ns' is no device's: DEVICE_ns"),
        ("kernel,factor,a_ns,a_ns\nmt,1,2,3\n", "the column 'a_ns' is there twice"),
        ("kernel,factor,a_ns\nmt,1\n", "line 2: 2 cells under 3 columns"),
        ("kernel,factor,a_ns\nmt,1,2,3\n", "line 2: 4 cells under 3 columns"),
        ("kernel,factor,a_ns\n,1,2\n", "line 2: the column 'kernel' is empty"),
        ("kernel,factor,a_ns\nmt,1,2\nmt,3,2\n", "line 3: the factor '3' is none of 1, 2, 4, 8, 16, 32"),
        ("kernel,factor,a_ns\nmt,1,2\nmt,,2\n", "line 3: the factor '' is none of 1, 2, 4, 8, 16, 32"),
        ("kernel,factor,a_ns\nmt,1,fast\n", "line 2: the a_ns 'fast' is no time above 0"),
        ("kernel,factor,a_ns\nmt,1,0\n", "line 2: the a_ns '0' is no time above 0"),
        ("kernel,factor,a_ns\nmt,1,-5\n", "line 2: the a_ns '-5' is no time above 0"),
        ("kernel,factor,a_ns\nmt,1,nan\n", "line 2: the a_ns 'nan' is no time above 0"),
        ("kernel,factor,a_ns\nmt,1,inf\n", "line 2: the a_ns 'inf' is no time above 0"),
        ("kernel,factor,a_ns\nmt,1,1e300\nmt,2,1e-300\n", "line 2: the a_ns '1e300' is no time above 0"),
        ("kernel,factor,a_ns\nmt,1,2\nmt,1,3\n", "line 3: factor 1 of mt is there twice"),
        ("kernel,factor,a_ns\nmt,2,2\n", "mt has no time at factor 1 on a"),
        ("kernel,factor,a_ns\nmt,1,2\n", "no kernel was measured uncoarsened and coarsened"),
        ('kernel,factor,a_ns\n"mt,1,2\n', "can't be read: unexpected end of data"),
        ("kernel,device,best_factor\nmt,a,5\n", "line 2: the best_factor '5' is none of 1, 2, 4, 8, 16, 32"),
        ("kernel,device,best_factor\nmt,a,4\nmt,a,4\n", "line 3: mt on a is there twice"),
        ("kernel,device,best_factor\nmt,,4\n", "line 2: the column 'device' is empty"),
        ("kernel,device,best_factor,note\nmt,a,4,x\n", "a table of best factors has no column 'note'"),
        ("kernel,device,best_factor,predicted_factor\nmt,a,4,x\n", "line 2: the predicted_factor 'x' is none of"),
    ],
)
def test_wrong_tables(tmp_path: Path, text: str, message: str) -> None:
    assert error(tmp_path, text).startswith(message)


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="can't be read: No such file"):
        read_curves(str(tmp_path / "none.csv"))
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInputError, match="can't be read"):
        read_curves(str(tmp_path / "binary.csv"))


def test_several_files_are_one(tmp_path: Path) -> None:
    runtimes, best = read(tmp_path, RUNTIMES), read(tmp_path, BEST)
    for parts in ([runtimes, best], [best, runtimes]):
        data = merged(parts)
        known = {curve.place: curve for curve in data.curves}
        assert len(data.curves) == 4
        # A curve says more than its best factor.
        assert known["sgemm", "fermi", 0].speedup == {2: 2.0, 4: 4.0}
        assert known["sgemm", "tahiti", 0].best_factor == 16
        assert data.predicted["sgemm", "fermi"] == 8
    with pytest.raises(InvalidInputError, match="sgemm on fermi is in the data twice"):
        merged([runtimes, runtimes])


def test_a_sweep_that_comes_with_the_package() -> None:
    known = read_curves("pocl")
    assert known == read_curves(str(shipped_files()["pocl"]))
    assert {curve.device for curve in known.curves} == {"pocl"}
