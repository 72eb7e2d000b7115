"""Recorded launches become the inputs of a described kernel: as they were passed, each once, the farthest."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.described import described_points
from coarsen.opencl_bench.inputs.from_recording import inputs_from, space_filling
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description
from coarsen.tuning.workload.benchmark import Benchmark, NullArgument, ScalarArgument, Workload
from coarsen.tuning.workload.launch_list import LIST_FILE
from tests.opencl_bench.inputs.recordings import DESCRIPTION, SOURCE, described, launch, recorded


def workload_of(benchmark: Benchmark, preset: str) -> Workload:
    return benchmark.workload(preset, 0, None, benchmark.own_definitions)


def test_a_launch_is_passed_as_it_was(tmp_path: Path) -> None:
    path = described(tmp_path)
    found = inputs_from(path, recorded(tmp_path, launch(1000, weight=3.25, spare=24)))
    benchmark = read_benchmark(found.path)
    assert (found.path, [*benchmark.presets]) == (tmp_path / "blur.recorded.toml", ["input-000"])
    (made,) = benchmark.launches("input-000", None, benchmark.own_definitions)
    assert made.global_size == (1024,)
    assert [each.value for each in made.arguments if isinstance(each, ScalarArgument)] == [1000, 3.25]
    buffers = workload_of(benchmark, "input-000").buffers
    assert {name: each.size for name, each in buffers.items()} == {"in": 1024, "starts": 1001, "out": 1024}
    # The contents are as the description declares them.
    assert found.without_contents == 1 and not found.has_uniform
    assert buffers["starts"].max() < 1000 and (np.diff(buffers["starts"]) >= 0).all()


def test_contents_are_those_that_were_recorded(tmp_path: Path) -> None:
    folder = recorded(tmp_path, launch(64, contents=((0, "a.npy"), (1, "b.npy"))), launch(128))
    np.save(folder / "a.npy", np.full(64, 7, np.float32))
    np.save(folder / "b.npy", np.arange(65, dtype=np.int32))
    found = inputs_from(described(tmp_path), folder)
    assert found.without_contents == 1
    # What is read is a copy beside the description, so that another recording changes nothing.
    (folder / "a.npy").unlink()
    buffers = workload_of(read_benchmark(found.path), "input-000").buffers
    assert (buffers["in"] == 7).all() and buffers["starts"].tolist() == [*range(65)]
    copies = {*(tmp_path / "blur.recorded").iterdir()}
    assert len(copies) == 2 and {*copies, path_of(found.path)} <= {*read_benchmark(found.path).input_files}


def path_of(recorded_description: Path) -> Path:
    """The kernel's own description, which a pack needs, too."""
    return recorded_description.with_name("blur.toml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.zeros(64, np.int16), "holds int16, and float is of float32"),
        (np.zeros(63, np.float32), "holds 63 numbers, and 64 of float are 64"),
    ],
)
def test_contents_that_a_buffer_can_not_have_are_not_copied(
    tmp_path: Path, content: np.ndarray[tuple[int], np.dtype[np.generic]], message: str
) -> None:
    folder = recorded(tmp_path, launch(64, contents=((0, "a.npy"),)))
    np.save(folder / "a.npy", content)
    with pytest.raises(InvalidInputError, match=message):
        inputs_from(described(tmp_path), folder)
    assert not (tmp_path / "blur.recorded").exists() and not (tmp_path / "blur.recorded.toml").exists()


def test_launches_with_the_same_arguments_are_one_input(tmp_path: Path) -> None:
    folder = recorded(tmp_path, launch(64, count=3), launch(64, local_size=None, count=4), launch(64, weight=9))
    found = inputs_from(described(tmp_path), folder)
    assert [each.launched for each in found.inputs] == [7, 1]
    assert (found.different, found.launches, found.covered) == (2, 8, 8)
    assert len({each.group for each in found.inputs}) == 1
    assert len({each.number for each in found.inputs}) == 2


def test_one_size_with_two_local_sizes_is_one_input(tmp_path: Path) -> None:
    path = described(tmp_path)
    path.write_text(
        DESCRIPTION.replace("(n + 63) // 64 * 64", "(n + local_size_0 - 1) // local_size_0 * local_size_0")
    )
    launches = (launch(1000, global_size=1000, local_size=(100,)), launch(1000, global_size=1024), launch(64))
    found = inputs_from(path, recorded(tmp_path, *launches))
    # Measured is what the description says with its own local size.
    assert [(each.launched, each.global_size) for each in found.inputs] == [(2, (1024,)), (1, (64,))]
    assert len({each.group for each in found.inputs}) == 2


def test_one_size_with_two_global_sizes_is_one_group(tmp_path: Path) -> None:
    path = described(tmp_path)
    path.write_text(DESCRIPTION.replace('["(n + 63) // 64 * 64"]', "[128]"))
    launches = (launch(100, global_size=128), launch(100, global_size=192), launch(64))
    inputs = inputs_from(path, recorded(tmp_path, *launches)).inputs
    assert len({each.number for each in inputs}) == 3
    assert len({each.group for each in inputs}) == 2


def test_at_most_so_many_are_chosen_the_most_launched_first_then_the_farthest(tmp_path: Path) -> None:
    folder = recorded(tmp_path, *(launch(n, count=9 if n == 512 else 1) for n in (16, 128, 256, 512, 4096, 65536)))
    found = inputs_from(described(tmp_path), folder, most=3)
    assert [each.sizes["n"] for each in found.inputs] == [512, 65536, 16]
    assert (found.different, found.launches, found.covered) == (6, 14, 11)


def test_points_that_fill_a_space_go_to_its_ends() -> None:
    points = [{"n": float(2**power), "m": 1.0} for power in range(17)]
    assert space_filling(points, [1] * 17, 5) == (0, 16, 8, 12, 4)
    assert space_filling([{"n": 5.0}] * 3, [1, 3, 2], 9) == (1, 2, 0)
    assert space_filling([], [], 4) == ()


def test_features_are_what_differs_where_none_are_declared(tmp_path: Path) -> None:
    found = inputs_from(described(tmp_path), recorded(tmp_path, launch(64), launch(128), launch(100)))
    description, benchmark = read_description(found.path), read_benchmark(found.path)
    assert [each.feature.name for each in description.features] == ["n", "global_size_0"]
    points = described_points(description, benchmark, [*benchmark.presets])
    assert {point.features["n"]: point.features["global_size_0"] for point in points} == {
        64: 64,
        128: 128,
        100: 128,
    }
    assert len({point.group for point in points}) == 3


def test_a_size_is_found_from_an_expression(tmp_path: Path) -> None:
    path = described(tmp_path)
    text = DESCRIPTION.replace('value = "n"', "value = 5").replace('elements = "n"', 'elements = "(n + 3) // 4"')
    path.write_text(text)
    (found,) = inputs_from(path, recorded(tmp_path, launch(64))).inputs
    # Of `starts`, the only one of which one number alone can be.
    assert found.sizes == {"n": 64}


def test_a_description_of_one_size_takes_the_launches_own(tmp_path: Path) -> None:
    path = described(tmp_path)
    text = DESCRIPTION.replace('["(n + 63) // 64 * 64"]', "[128]").replace('"n + 1"', "101")
    text = text.replace('elements = "n"', "elements = 100").replace('value = "n"', "value = 100")
    path.write_text(text.replace("n = 100\n", "").replace("sorted(0, n)", "zeros"))
    found = inputs_from(path, recorded(tmp_path, launch(64), launch(256)))
    benchmark = read_benchmark(found.path)
    sizes = [benchmark.launches(name, None, ())[0].global_size for name in benchmark.presets]
    assert sorted(sizes) == [(64,), (256,)]


def test_without_contents_files_of_another_launch_become_uniform(tmp_path: Path) -> None:
    path = described(tmp_path)
    np.save(tmp_path / "in.npy", np.zeros(100, np.float32))
    path.write_text(DESCRIPTION.replace('"uniform(-1, 1)"', "'file(\"in.npy\")'"))
    found = inputs_from(path, recorded(tmp_path, launch(64)))
    assert found.has_uniform and found.without_contents == 1
    values = workload_of(read_benchmark(found.path), "input-000").buffers["in"]
    assert values.size == 64 and len({*values.tolist()}) > 10


def test_launches_that_are_not_as_described_are_left_out_with_their_reason(tmp_path: Path) -> None:
    null = launch(64, count=2)
    odd = launch(256)
    short = type(odd)((256,), (64,), (), odd.arguments[:4])
    null = type(null)((64,), (64,), (), (NullArgument(), *null.arguments[1:]), 2)
    folder = recorded(tmp_path, launch(64), launch(128, global_size=4096, count=3), null, short)
    found = inputs_from(described(tmp_path), folder)
    assert [each.sizes for each in found.inputs] == [{"n": 64}]
    assert found.left_out == {
        "its global size along dimension 0 is 4096, and '(n + 63) // 64 * 64' is 128 for n = 128": 3,
        "'in' is a null pointer, and is described as something else": 2,
        "it passes 4 arguments, and 5 are described": 1,
    }


def test_the_same_launch_has_the_same_number_in_another_recording(tmp_path: Path) -> None:
    path = described(tmp_path)
    first = inputs_from(path, recorded(tmp_path, launch(64), launch(128))).inputs
    second = inputs_from(path, recorded(tmp_path, launch(128, count=5))).inputs
    assert second[0].number in {each.number for each in first}


@pytest.mark.parametrize(
    ("source", "kernel", "message"),
    [
        (SOURCE, "blurr", "it has no launch of the kernel blur, did you mean 'blurr'?; it has launches of blurr"),
        (SOURCE + "\n", "blur", "the program launched blur from another source than blur.cl"),
    ],
)
def test_a_recording_of_something_else_is_refused(tmp_path: Path, source: str, kernel: str, message: str) -> None:
    folder = recorded(tmp_path, launch(64), source=source, kernel=kernel)
    with pytest.raises(InvalidInputError) as caught:
        inputs_from(described(tmp_path), folder)
    assert str(caught.value).startswith(f"{folder}: ")
    assert message.partition(",")[0] in str(caught.value) and "\n" not in str(caught.value)


def test_a_recording_without_a_launch_as_described_is_refused(tmp_path: Path) -> None:
    folder = recorded(tmp_path, launch(64, global_size=128))
    with pytest.raises(InvalidInputError, match=r"no launch of blur is as blur\.toml says: its global size"):
        inputs_from(described(tmp_path), folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no JSON", "it is no list of launches"),
        ("[]", "it is no list of launches"),
        ('{"format": 2, "kernels": []}', "its format is 2, and this version of coarsen reads 1"),
        ('{"format": 1, "kernels": [{}]}', "it is no list of launches"),
    ],
)
def test_a_list_that_can_not_be_read_is_refused(tmp_path: Path, content: str, message: str) -> None:
    folder = recorded(tmp_path)
    (folder / LIST_FILE).write_text(content)
    with pytest.raises(InvalidInputError, match=message):
        inputs_from(described(tmp_path), folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("global_size", [0]),
        ("global_size", [1, 2, 3, 4]),
        ("count", -1),
        ("arguments", [{"buffer": "x"}]),
        ("arguments", [{"scalar": "no digits"}]),
        ("contents", {"0": "../elsewhere.npy"}),
    ],
)
def test_a_damaged_list_is_refused(tmp_path: Path, key: str, value: object) -> None:
    folder = recorded(tmp_path, launch(64))
    content = json.loads((folder / LIST_FILE).read_text())
    content["kernels"][0]["launches"][0][key] = value
    (folder / LIST_FILE).write_text(json.dumps(content))
    with pytest.raises(InvalidInputError, match="it is no list of launches"):
        inputs_from(described(tmp_path), folder)


def test_contents_that_are_gone_are_said(tmp_path: Path) -> None:
    folder = recorded(tmp_path, launch(64, contents=((0, "a.npy"),)))
    with pytest.raises(InvalidInputError, match=r"a\.npy: can't be read: No such file"):
        inputs_from(described(tmp_path), folder)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            'description = "blur.toml"',
            'description = "../blur.toml"',
            r"there is no file \.\./blur\.toml beside it",
        ),
        ('description = "blur.toml"', 'description = "blur.recorded.toml"', "lists launches itself"),
        ("launched = 1", "launched = 0", "it must be a whole number of at least 1, not 0"),
        ("global_size = [64]", "global_size = [64, 1]", "it must have 1 numbers"),
        (
            "{ buffer = 256 }",
            '{ buffer = 256, file = "/etc/hostname" }',
            "must be in the folder of the description",
        ),
        ('n = { scalar = "40000000" }', 'n = { scalar = "40" }', "int has 4 bytes, and 1 were passed"),
        ("starts = {", "ends = {", "the kernel blur has no such argument"),
    ],
)
def test_a_mistake_in_the_written_description_is_said(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    path = inputs_from(described(tmp_path), recorded(tmp_path, launch(64))).path
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    with pytest.raises(InvalidInputError, match=message):
        read_benchmark(path)
