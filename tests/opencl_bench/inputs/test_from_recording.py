"""Recorded launches become the inputs of a described kernel: their sizes, each once, the farthest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.described import described_points
from coarsen.opencl_bench.inputs.drawing import farthest, places_of
from coarsen.opencl_bench.inputs.from_recording import inputs_from
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description
from coarsen.tuning.workload.benchmark import NullArgument, ScalarArgument
from coarsen.tuning.workload.launch_list import LIST_FILE
from tests.opencl_bench.inputs.recordings import DESCRIPTION, SOURCE, described, launch, recorded


def test_the_sizes_of_a_launch_become_an_input(tmp_path: Path) -> None:
    path = described(tmp_path)
    found = inputs_from(path, recorded(tmp_path, launch(1000, weight=3.25, spare=24)))
    assert (found.path, found.inputs) == (tmp_path / "blur.inputs.csv", ({"n": 1000},))
    assert found.path.read_text() == "input,n\ninput-000,1000\n"
    benchmark = read_benchmark(path)
    assert [*benchmark.presets] == ["test", "input-000"] and found.path in benchmark.input_files
    (made,) = benchmark.launches("input-000", None, benchmark.own_definitions)
    assert made.global_size == (1024,)
    # What no size says is as described.
    assert [each.value for each in made.arguments if isinstance(each, ScalarArgument)] == [1000, 0.5]


def test_a_list_of_other_inputs_is_replaced(tmp_path: Path) -> None:
    path = described(tmp_path)
    path.with_name("blur.inputs.csv").write_text("no list")
    assert inputs_from(path, recorded(tmp_path, launch(64))).inputs == ({"n": 64},)
    assert [*read_benchmark(path).presets] == ["test", "input-000"]


def test_launches_of_the_same_sizes_are_one_input(tmp_path: Path) -> None:
    folder = recorded(tmp_path, launch(64, count=3), launch(64, local_size=None, count=4), launch(64, weight=9))
    found = inputs_from(described(tmp_path), folder)
    assert (found.inputs, found.different, found.launches, found.covered) == (({"n": 64},), 1, 8, 8)


def test_one_size_with_two_local_sizes_is_one_input(tmp_path: Path) -> None:
    path = described(tmp_path)
    path.write_text(
        DESCRIPTION.replace("(n + 63) // 64 * 64", "(n + local_size_0 - 1) // local_size_0 * local_size_0")
    )
    launches = (launch(1000, global_size=1000, local_size=(100,)), launch(1000, global_size=1024), launch(64))
    found = inputs_from(path, recorded(tmp_path, *launches))
    assert (found.inputs, found.covered) == (({"n": 1000}, {"n": 64}), 3)


def test_at_most_so_many_are_chosen_the_most_launched_first_then_the_farthest(tmp_path: Path) -> None:
    folder = recorded(tmp_path, *(launch(n, count=9 if n == 512 else 1) for n in (16, 128, 256, 512, 4096, 65536)))
    found = inputs_from(described(tmp_path), folder, most=3)
    assert [each["n"] for each in found.inputs] == [512, 65536, 16]
    assert (found.different, found.launches, found.covered) == (6, 14, 11)


def test_launches_are_of_the_inputs_that_the_file_declares(tmp_path: Path) -> None:
    path = described(tmp_path)
    path.write_text(DESCRIPTION.replace("[sizes.test]", "[inputs]\nranges = { n = [64, 1000] }\n\n[sizes.test]"))
    found = inputs_from(path, recorded(tmp_path, launch(64), launch(1024, count=2)))
    assert (found.inputs, found.left_out) == (({"n": 64},), {"n = 1024 is not within [inputs]": 2})
    assert [*read_benchmark(path).presets] == ["test", "input-000"]


def test_points_that_fill_a_space_go_to_its_ends() -> None:
    points = [{"n": float(2**power), "m": 1.0} for power in range(17)]
    assert farthest(places_of(points), 0, 5, [1] * 17) == (0, 16, 8, 4, 12)
    assert farthest(places_of(points), 0, 4, [*range(17)]) == (0, 16, 8, 12)
    assert farthest(places_of([{"n": 5.0}] * 3), 1, 9, [1, 3, 2]) == (1, 2, 0)


def test_inputs_of_different_sizes_have_nothing_in_common(tmp_path: Path) -> None:
    path = described(tmp_path)
    path.write_text(DESCRIPTION.replace("[sizes.test]", '[features]\nn = "n"\n\n[sizes.test]'))
    inputs_from(path, recorded(tmp_path, launch(64), launch(128), launch(100)))
    description, benchmark = read_description(path), read_benchmark(path)
    points = described_points(description, benchmark, [*benchmark.presets][1:])
    assert {point.features["n"]: point.group for point in points} == {64: "n=64", 128: "n=128", 100: "n=100"}


def test_a_size_is_found_from_an_expression(tmp_path: Path) -> None:
    path = described(tmp_path)
    text = DESCRIPTION.replace('value = "n"', "value = 64").replace('elements = "n"', 'elements = "(n + 3) // 4"')
    path.write_text(text)
    (found,) = inputs_from(path, recorded(tmp_path, launch(64))).inputs
    # Of `starts`, the only one of which one number alone can be.
    assert found == {"n": 64}


@pytest.mark.parametrize(
    "replacements",
    [
        [
            *(("n = 100\n", ""), ('"n + 1"', "9"), ('s = "n"', "s = 9"), ('value = "n"', "value = 9")),
            *((", n)", ", 9)"), ("n +", "1 +")),
        ],
        [("[sizes.test]", '[[launches]]\nrepeat = "i in range(0, 2)"\n\n[sizes.test]')],
    ],
    ids=["no sizes", "repeat"],
)
def test_a_description_that_can_not_have_inputs_is_refused(
    tmp_path: Path, replacements: list[tuple[str, str]]
) -> None:
    path = described(tmp_path)
    text = DESCRIPTION
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    with pytest.raises(InvalidInputError, match="inputs differ by the sizes that it names"):
        inputs_from(path, recorded(tmp_path, launch(64)))


def test_a_whole_number_that_is_described_otherwise_leaves_a_launch_out(tmp_path: Path) -> None:
    path = described(tmp_path)
    path.write_text(DESCRIPTION.replace('value = "n"', "value = 64"))
    found = inputs_from(path, recorded(tmp_path, launch(64), launch(128)))
    assert found.inputs == ({"n": 64},)
    assert found.left_out == {"its 'n' is 128, and is described as 64": 1}


def test_launches_that_are_not_as_described_are_left_out_with_their_reason(tmp_path: Path) -> None:
    null = launch(64, count=2)
    odd = launch(256)
    short = type(odd)((256,), (64,), (), odd.arguments[:4])
    null = type(null)((64,), (64,), (), (NullArgument(), *null.arguments[1:]), 2)
    folder = recorded(tmp_path, launch(64), launch(128, global_size=4096, count=3), null, short)
    found = inputs_from(described(tmp_path), folder)
    assert found.inputs == ({"n": 64},)
    assert found.left_out == {
        "its global size along dimension 0 is 4096, and '(n + 63) // 64 * 64' is 128 for n = 128": 3,
        "'in' is a null pointer, and is described as something else": 2,
        "it passes 4 arguments, and 5 are described": 1,
    }


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
        ('{"format": 1, "kernels": []}', "its format is 1, and this version of coarsen reads 2"),
        ('{"format": 2, "kernels": [{}]}', "it is no list of launches"),
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
        ("arguments", [{"PassedBuffer": {"byte_count": "x"}}]),
        ("arguments", [{"PassedScalar": {"content": "no digits"}}]),
        ("arguments", [{"Nothing": {}}]),
    ],
)
def test_a_damaged_list_is_refused(tmp_path: Path, key: str, value: object) -> None:
    folder = recorded(tmp_path, launch(64))
    content = json.loads((folder / LIST_FILE).read_text())
    content["kernels"][0]["launches"][0][key] = value
    (folder / LIST_FILE).write_text(json.dumps(content))
    with pytest.raises(InvalidInputError, match="it is no list of launches"):
        inputs_from(described(tmp_path), folder)
