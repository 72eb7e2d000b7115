"""Buffers that a file fills."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.values import FileValues, parse_values
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.workload.element_types import element_type
from tests.opencl_bench.workloads.described.conftest import Write

INPUT = ('values = "uniform(-1, 1)"', "values = 'file(\"input.npy\")'")
SMALL = ("n = 1000\n", "n = 10\n"), ("n = 100000\n", "n = 10\n")


def test_the_buffer_holds_what_the_file_holds(write: Write, tmp_path: Path) -> None:
    numbers = np.arange(40, dtype=np.float32).reshape(10, 4)
    np.save(tmp_path / "input.npy", numbers)
    benchmark = find_benchmark(write(INPUT, *SMALL))
    for seed in (0, 1):
        assert np.array_equal(benchmark.workload("test", seed).buffers["input"], numbers)
    assert benchmark.input_files == (tmp_path / "input.npy",)


def test_another_content_is_another_workload(write: Write, tmp_path: Path) -> None:
    hashes = set()
    for first in (0, 1):
        np.save(tmp_path / "input.npy", np.arange(first, first + 40, dtype=np.float32))
        hashes.add(find_benchmark(write(INPUT, *SMALL)).content_hash("test"))
    assert len(hashes) == 2


def test_a_vector_of_three_is_stored_as_four(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(28, np.int32))
    found = parse_values('file("x.npy")', tmp_path)
    assert isinstance(found, FileValues)
    assert found.fill(np.random.default_rng(0), element_type("int3"), 7, {}).shape == (7, 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('file("none.npy")', "none.npy: there is no such file"),
        ("file(name)", "'file(name)' must have the form file(\"NAME.npy\")"),
        ('file("a", "b")', "must have the form"),
        ('file("../x.npy")', "must name a file in the folder of the description, or below"),
        ('file("/etc/passwd")', "must name a file in the folder of the description, or below"),
        ("files(1)", "'files(1)' is no distribution"),
    ],
)
def test_what_is_no_file(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_values(text, tmp_path)
    assert message in str(caught.value)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    np.save(tmp_path / "x.npy", np.zeros(4, np.float32))
    (tmp_path / "inside" / "x.npy").symlink_to(tmp_path / "x.npy")
    with pytest.raises(InvalidInputError, match="in the folder of the description"):
        parse_values('file("x.npy")', tmp_path / "inside")


def filled(tmp_path: Path, type_name: str = "float", elements: int = 4) -> None:
    values = parse_values('file("x.npy")', tmp_path)
    assert isinstance(values, FileValues)
    values.check({}, element_type(type_name), elements)
    values.fill(np.random.default_rng(0), element_type(type_name), elements, {})


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(4, np.float64))
    with pytest.raises(InvalidInputError, match="holds float64, and float is of float32"):
        filled(tmp_path)
    with pytest.raises(InvalidInputError, match="holds 4 numbers, and 5 of double are 5"):
        filled(tmp_path, "double", 5)


class Planted:
    """An object whose unpickling would be noticed."""

    def __reduce__(self) -> tuple[object, ...]:
        return (pytest.fail, ("it was unpickled",))


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", pickle.dumps(Planted()), b"PK\x03\x04"])
def test_damaged_and_foreign_files(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"x\.npy"):
        filled(tmp_path)
