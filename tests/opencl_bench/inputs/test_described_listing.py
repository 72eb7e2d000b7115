"""A described kernel's inputs are listed once, and are presets of the same names in every process."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.workloads.described.inputs import list_file
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from tests.opencl_bench.workloads.described.row_sums import write_sums

INPUTS = """\
[inputs]
ranges = { height = [64, 4096], width = [1, 1024] }
multiples = { height = 64 }
limit = "height * width <= 65536"
count = 12

[sizes.test]"""


def _write(folder: Path, *replacements: tuple[str, str]) -> Path:
    text = INPUTS
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return write_sums(folder, ("[sizes.test]", text))


def test_inputs_become_presets(tmp_path: Path) -> None:
    path = _write(tmp_path)
    assert [*read_benchmark(path).presets] == ["test"]
    assert list_inputs(path) == (tmp_path / "sum.inputs.csv", True)
    read = read_benchmark(path)
    assert [*read.presets] == ["test", *(f"input-{number:03}" for number in range(12))]
    sizes = [preset.size for name, preset in read.presets.items() if name != "test"]
    assert all(s["height"] % 64 == 0 and s["height"] * s["width"] <= 65536 for s in sizes)
    assert {"height": 64, "width": 1} in sizes and len({tuple(s.items()) for s in sizes}) == 12
    assert list_inputs(path) == (list_file(path), False)
    # A pack takes it along.
    assert list_file(path) in read.input_files


def test_the_list_does_not_decide_about_what_is_stored_of_a_preset(tmp_path: Path) -> None:
    before = read_benchmark(_write(tmp_path)).content_hash("test")
    list_inputs(tmp_path / "sum.toml")
    assert read_benchmark(tmp_path / "sum.toml").content_hash("test") == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[64, 4096]", "[64]", "inputs.ranges.height: it must be the least and the largest value"),
        ("[64, 4096]", "[64, 8]", "inputs.ranges.height: it must be the least and the largest value"),
        ("height * width <=", "height * depth <=", "inputs.limit: there is no size 'depth'"),
        ("height * width <=", "height * width", "inputs.limit: 'height * width 65536' must compare"),
        ("multiples = { height", "multiples = { depth", "inputs.multiples: 'depth' has no range"),
        ("count = 12", "count = 0", "inputs.count: it is from 1 to 1000"),
        ("count = 12", "counts = 12", "inputs.counts: no such key"),
        ("count = 12", "fixed = { width = 3 }", "inputs: 'width' is there twice"),
    ],
)
def test_a_mistake_is_one_line_with_its_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = _write(tmp_path, (old, new))
    with pytest.raises(InvalidInputError) as failure:
        read_benchmark(path)
    assert str(failure.value).startswith(f"{path}: {message}") and "\n" not in str(failure.value)


def test_a_list_of_other_inputs_is_refused_and_then_drawn_anew(tmp_path: Path) -> None:
    path = _write(tmp_path)
    list_inputs(path)
    _write(tmp_path, ("[64, 4096]", "[64, 128]"))
    with pytest.raises(InvalidInputError, match=r"is none of the inputs of sum\.toml; coarsen tune .* lists"):
        read_benchmark(path)
    assert list_inputs(path)[1]
    assert len(read_benchmark(path).presets) == 13


@pytest.mark.parametrize("content", ["", "x,y\n1,2\n", "input,height,width\ninput-000,a,b\n", "input\xff\n"])
def test_what_is_no_list_is_refused(tmp_path: Path, content: str) -> None:
    path = _write(tmp_path)
    list_file(path).write_text(content, encoding="latin-1")
    if content:
        with pytest.raises(InvalidInputError, match="lists the inputs anew"):
            read_benchmark(path)
    assert list_inputs(path)[1]


def test_a_file_without_inputs_is_told_the_line_to_add(tmp_path: Path) -> None:
    path = write_sums(tmp_path)
    with pytest.raises(InvalidInputError, match=r"inputs: it is missing; add \[inputs\]"):
        list_inputs(path)
