"""The package's own described kernels: complete, reproducible, with inputs in which a wrong field shows."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.drawing import is_within
from coarsen.opencl_bench.workloads.described.check_signature import check_kernel_of
from coarsen.opencl_bench.workloads.described.inputs import PREFIX
from coarsen.opencl_bench.workloads.described.read import read_description
from coarsen.opencl_bench.workloads.lookup import SUITE, described, find_benchmark, judge, records
from coarsen.opencl_bench.workloads.suite import KERNEL_FOLDER
from coarsen.tuning.workload.benchmark import BufferArgument
from coarsen.variant.variant import Definitions

FOLDERS = {"judge-": 30, "records-": 11, "adaptive-": 8}
FILES = {name: path for prefix in FOLDERS for name, path in described(prefix).items()}
ADAPTIVE = tuple(described("adaptive-"))
OWN_SIZES = (*judge(), *records())


@pytest.mark.parametrize(("prefix", "count"), FOLDERS.items())
def test_every_file_is_described(prefix: str, count: int) -> None:
    folder = KERNEL_FOLDER / prefix.removesuffix("-")
    descriptions = described(prefix)
    assert len(descriptions) == count and not set(descriptions) & set(SUITE)
    sources = {path for path in folder.iterdir() if path.suffix == ".cl"}
    assert {find_benchmark(name).kernel_file for name in descriptions} == sources
    assert {path.suffix for path in folder.iterdir()} <= {".cl", ".toml", ".csv"}


def test_names() -> None:
    assert find_benchmark("judge-heat_plate").name == "judge-heat_plate"
    with pytest.raises(InvalidInputError, match=r"no benchmark 'judge-heat_plat' \(did you mean judge-heat_plate"):
        find_benchmark("judge-heat_plat")
    with pytest.raises(InvalidInputError, match=r"no benchmark 'adaptive-scann' \(did you mean adaptive-scan"):
        find_benchmark("adaptive-scann")


@pytest.mark.parametrize("name", FILES)
def test_arguments_and_defaults_are_the_kernels(name: str) -> None:
    check_kernel_of(FILES[name])
    source = find_benchmark(name).kernel_file.read_text(encoding="utf-8")
    assert source.startswith("/*") and "Threads:" in source


@pytest.mark.parametrize("name", OWN_SIZES)
def test_presets_and_local_sizes(name: str) -> None:
    chosen = find_benchmark(name)
    is_judge = name.startswith("judge-")
    assert list(chosen.presets) == (["test", "cpu", "gpu"] if is_judge else ["test", "small", "cpu", "gpu"])
    assert len(chosen.local_sizes) in (4, 5)
    for preset in chosen.presets:
        tried = chosen.local_sizes_of(preset)
        assert {len(local_size) for local_size in tried} == {len(chosen.dimensions)}
        assert max(math.prod(local_size) for local_size in tried) <= (1024 if is_judge else 256)
    assert all(extent % 4 == 0 for extent in chosen.presets["test"].local_size)
    assert {chosen.presets[preset].local_size for preset in ("cpu", "gpu")} <= set(chosen.local_sizes)


def test_there_are_launches_of_one_two_and_three_dimensions() -> None:
    assert {len(chosen.dimensions) for chosen in judge().values()} == {1, 2, 3}


@pytest.mark.parametrize("name", OWN_SIZES)
def test_launches_have_whole_groups_and_buffers_that_are_there(name: str) -> None:
    chosen = find_benchmark(name)
    for local_size in chosen.local_sizes_of("test"):
        workload = chosen.workload("test", 0, local_size)
        assert set(workload.outputs) <= set(workload.buffers)
        assert workload.launches == chosen.launches("test", local_size)
        for launch in workload.launches:
            assert launch.local_size == local_size
            sizes = zip(launch.global_size, launch.local_size, strict=True)
            assert all(total > 0 and total % group == 0 for total, group in sizes)
            used = {argument.name for argument in launch.arguments if isinstance(argument, BufferArgument)}
            assert used == set(workload.buffers)


@pytest.mark.parametrize("name", FILES)
def test_seed_decides_the_inputs(name: str) -> None:
    first, again, other = (find_benchmark(name).workload("test", seed).buffers for seed in (3, 3, 4))
    assert all(first[key].tobytes() == again[key].tobytes() for key in first)
    assert any(first[key].tobytes() != other[key].tobytes() for key in first)


@pytest.mark.parametrize(
    ("name", "local_size"),
    [
        ("judge-multiply_tiles", (8, 4)),
        ("judge-bitonic_step", (96,)),
        ("judge-block_scan", (96,)),
        ("records-bitonic_local", (96,)),
    ],
)
def test_unusable_local_size_is_refused(name: str, local_size: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInputError, match="does not"):
        find_benchmark(name).launches("test", local_size)


# Extents that are rounded up to whole work-groups, with the dimension that each is along.
ROUNDED = {
    "judge-asian_option": {"paths": 0},
    "judge-bitonic_step": {"keys": 0},
    "judge-byte_histogram": {"items": 0},
    "judge-lattice_fluid": {"width": 0, "height": 1},
    "judge-private_histogram": {"items": 0},
}


@pytest.mark.parametrize("preset", ["cpu", "gpu"])
@pytest.mark.parametrize("name", ROUNDED)
def test_every_local_size_solves_the_same_problem(name: str, preset: str) -> None:
    local_sizes = find_benchmark(name).local_sizes_of(preset)
    for extent, dimension in ROUNDED[name].items():
        multiple = math.lcm(*(local_size[dimension] for local_size in local_sizes))
        assert find_benchmark(name).presets[preset].size[extent] % multiple == 0


def test_no_two_files_of_the_suite_and_the_judge_are_alike() -> None:
    files = [*KERNEL_FOLDER.glob("*.cl"), *(KERNEL_FOLDER / "judge").glob("*.cl")]
    assert len({_code(path) for path in files}) == len(files) == 47


def _code(path: Path) -> str:
    """The source after its leading comment, without spaces."""
    return "".join(path.read_text().partition("*/")[2].split())


@pytest.mark.parametrize("name", records())
def test_no_two_fields_of_an_input_hold_the_same_numbers(name: str) -> None:
    workload = find_benchmark(name).workload("test")
    for key in workload.buffers.keys() - set(workload.outputs):
        array = workload.buffers[key]
        for one, other in itertools.combinations(array.dtype.names or (), 2):
            assert (key, one, other) == ("places", "left", "right") or not np.array_equal(
                array[one], array[other]
            ), f"{key}: {one} and {other} could be taken for each other"


def test_some_records_have_padding() -> None:
    sizes = {}
    for name in records():
        kinds = [array.dtype for array in find_benchmark(name).workload("test").buffers.values()]
        sizes[name] = {
            (sum(kind[field].itemsize for field in kind.names), kind.itemsize) for kind in kinds if kind.names
        }
    almost_full = {name for name, found in sizes.items() if (15, 16) in found}
    assert almost_full == {"records-bitonic_global", "records-bitonic_local", "records-black_scholes_records"}
    assert sum(any(data < size for data, size in found) for found in sizes.values()) >= 8


def macros_of(name: str) -> list[Definitions]:
    """The values of macros with a change in one of them at a time, the defaults first."""
    tunables = find_benchmark(name).tunables
    own = {macro: values[0] for macro, values in tunables.items()}
    changed = [{**own, macro: value} for macro, values in tunables.items() for value in values[1:]]
    return [tuple(sorted(each.items())) for each in (own, *changed)]


@pytest.mark.parametrize("name", ADAPTIVE)
def test_all_versions_get_the_same_inputs(name: str) -> None:
    chosen = find_benchmark(name)
    first = chosen.workload("test", 3)
    assert chosen.input_macros == () and chosen.buffers_fit_any_local_size
    for definitions in macros_of(name):
        other = chosen.workload("test", 3, None, definitions)
        assert other.outputs == first.outputs
        assert all(contents.tobytes() == other.buffers[key].tobytes() for key, contents in first.buffers.items())
        for launch in other.launches:
            assert all(g % n == 0 for g, n in zip(launch.global_size, launch.local_size, strict=True))


@pytest.mark.parametrize("name", ADAPTIVE)
def test_the_source_has_the_macros_and_their_defaults(name: str) -> None:
    chosen = find_benchmark(name)
    source = chosen.kernel_file.read_text(encoding="utf-8")
    for macro, values in chosen.tunables.items():
        assert f"#ifndef {macro}\n#define {macro} {values[0]}\n#endif\n" in source
    assert set(re.findall(r"#ifndef (\w+)", source)) == set(chosen.tunables)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_listed_inputs_are_of_the_space(name: str) -> None:
    description, chosen = read_description(FILES[name]), find_benchmark(name)
    space = description.inputs
    assert space is not None
    listed = {preset: size for preset, size in description.sizes.items() if preset.startswith(PREFIX)}
    assert len(listed) == space.count == len(chosen.presets) - 1
    assert all(is_within(space, size) for size in listed.values())
