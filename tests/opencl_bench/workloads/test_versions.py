"""What a version asks of its benchmark: a local size left open, a workload that versions share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.workload.benchmark import Preset
from tests.opencl_bench.planted import FILE, written
from tests.opencl_bench.steps import AT_ONCE, IN_TWO, STEPS, definitions


def test_a_local_size_left_open_is_the_implementations_choice() -> None:
    own, opened = (STEPS.launches("test", size, definitions(IN_TWO)) for size in (None, ()))
    assert [each.local_size for each in own] == [(32,), (32,)]
    assert opened == tuple(replace(each, local_size=()) for each in own)
    assert STEPS.workload("test", 0, (), definitions(IN_TWO)).launches == opened


def test_it_is_not_where_local_memory_is_passed() -> None:
    message = "local memory that is passed belongs to a local size"
    with pytest.raises(InvalidInputError, match=message):
        SUITE["dwtHaar1D"].launches("test", ())
    with pytest.raises(InvalidInputError, match=message):
        SUITE["dwtHaar1D"].workload("test", 0, ())


def test_an_argument_that_is_of_the_contents_is_of_those_of_the_seed() -> None:
    sizes = {name: Preset({"ranges": ranges}, (64,)) for name, ranges in (("test", 960), ("more", 4096))}
    search = replace(SUITE["binarySearch"], presets=sizes)
    assert search.make_launches is None
    preset, other = list(search.presets)[:2]
    made = [search.workload(preset, seed).launches for seed in range(4)]
    assert len({repr(launches) for launches in made}) > 1
    assert made == [search.launches(preset, seed=seed) for seed in range(4)]
    assert made == [search.real_launches(preset, seed=seed) for seed in range(4)]
    assert search.launches(other) == made[0] != search.real_launches(other)


@pytest.mark.parametrize(
    ("input_macros", "plus"), [(None, "3"), ((), "1"), (("PLUS",), "3")], ids=["unknown", "none", "one"]
)
def test_macros_that_the_workload_is_made_with(input_macros: tuple[str, ...] | None, plus: str) -> None:
    benchmark = replace(STEPS, input_macros=input_macros)
    own = AT_ONCE if input_macros is not None else IN_TWO
    assert benchmark.definitions_of_workload(definitions(IN_TWO, "3")) == definitions(own, plus)


@pytest.mark.parametrize(
    ("old", "new", "macros", "any_local_size"),
    [
        ("", "", (), True),
        ('elements = "n"', 'elements = "n * STEP"', ("STEP",), True),
        ("integers(0, 100)", "integers(0, STEP)", ("STEP",), True),
        ('elements = "n"', 'elements = "n + local_size_0"', (), False),
        ('value = "n"', 'value = "STEP * local_size_0"', (), True),
    ],
    ids=["none", "extent", "contents", "local size", "scalar"],
)
def test_a_description_says_what_buffers_depend_on(
    old: str, new: str, macros: tuple[str, ...], any_local_size: bool, tmp_path: Path
) -> None:
    file = written(tmp_path)
    file.write_text(FILE.replace(old, new) if old else FILE)
    benchmark = read_benchmark(file)
    assert (benchmark.input_macros, benchmark.buffers_fit_any_local_size) == (macros, any_local_size)
