"""Which synthetic kernels are drawn: the same everywhere, all values of all axes, none that a rule forbids."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.opencl_bench.workloads.synthetic.axes import AXIS_VALUES, Access, Axes, LocalMemory, Loop
from coarsen.opencl_bench.workloads.synthetic.benchmark import (
    synthetic_benchmark,
    synthetic_family,
    synthetic_names,
)
from coarsen.opencl_bench.workloads.synthetic.rules import RULES, Rule, violations
from coarsen.opencl_bench.workloads.synthetic.sampling import draw

COUNT = 300
README = Path(__file__).parents[4] / "opencl_bench" / "README.md"
GATHERS = (Access.GATHER_NEAR, Access.GATHER_FAR)
DRAWN = [draw(0, index) for index in range(COUNT)]


def test_another_seed_gives_other_kernels() -> None:
    assert draw(0, 3).axes != draw(1, 3).axes
    assert draw(0, 3) == draw(0, 3)


@pytest.mark.parametrize("axis", AXIS_VALUES)
def test_every_value_of_every_axis_is_drawn_often(axis: str) -> None:
    counts = Counter(getattr(drawn.axes, axis) for drawn in DRAWN)
    assert set(counts) == set(AXIS_VALUES[axis])
    assert min(counts.values()) >= COUNT / 40


def test_the_readme_names_the_values_of_every_axis() -> None:
    text = README.read_text(encoding="utf-8").partition("## Synthetic kernels")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][2:]
    told = {re.split(" of | per ", name)[0].replace(" ", "_"): set(cell.split(", ")) for name, cell in rows}
    assert told == {axis: {in_words(value) for value in values} for axis, values in AXIS_VALUES.items()}


def in_words(value: object) -> str:
    return "×".join(map(str, value)) if isinstance(value, tuple) else str(value).replace("_", " ")


def test_there_are_one_and_two_dimensions_and_many_families() -> None:
    assert 100 < sum(drawn.axes.dimensions == 1 for drawn in DRAWN) < 200
    families = Counter(drawn.family for drawn in DRAWN)
    assert len(families) > 80
    assert max(families.values()) < COUNT / 10


def test_names_are_names_and_all_different() -> None:
    kernels = [drawn.kernel for drawn in DRAWN]
    assert len(set(kernels)) == COUNT
    assert all(kernel.isidentifier() for kernel in kernels)
    assert synthetic_names(4, 3) == ("synthetic-4-0", "synthetic-4-1", "synthetic-4-2")
    assert [drawn.name for drawn in DRAWN] == list(synthetic_names(0, COUNT))


def test_a_family_is_what_variations_share() -> None:
    for drawn in DRAWN[:50]:
        assert synthetic_family(drawn.name) == drawn.family
        access, loop, local_memory = drawn.family.removeprefix("synthetic-").split("-")
        assert drawn.axes.access.value.startswith(access)
        assert (loop == "none") == (drawn.axes.loop is Loop.NONE)
        assert (local_memory == "none") == (drawn.axes.local_memory is LocalMemory.NONE)
    near, far = (next(d.family for d in DRAWN if d.axes.access is a and d.axes.loop is Loop.NONE) for a in GATHERS)
    assert near.startswith("synthetic-gather-none") and far.startswith("synthetic-gather-none")


def test_no_rule_is_broken() -> None:
    assert [(drawn.name, broken) for drawn in DRAWN if (broken := violations(drawn.axes))] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.reason)
def test_every_rule_forbids_something_by_the_axes_that_it_names(rule: Rule) -> None:
    assert rule.reason and set(rule.axes) <= set(AXIS_VALUES)
    generator = random.Random(1)
    forbidden = next(axes for axes in _any_axes(generator) if rule.forbids(axes))
    others = [axis for axis in AXIS_VALUES if axis not in rule.axes]
    decisive = {axis: getattr(forbidden, axis) for axis in rule.axes}
    values: dict[str, Any] = {**decisive, **{axis: generator.choice(AXIS_VALUES[axis]) for axis in others}}
    assert rule in violations(Axes(**values))


def _any_axes(generator: random.Random) -> Iterator[Axes]:
    for _ in itertools.count():
        values: dict[str, Any] = {axis: generator.choice(values) for axis, values in AXIS_VALUES.items()}
        yield Axes(**values)


@pytest.mark.parametrize(
    "name", ["synthetic-", "synthetic-0", "synthetic-0-x", "synthetic-0-1-2", "synthetic-00-1"]
)
def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(InvalidInputError, match="a synthetic kernel is called synthetic-SEED-NUMBER"):
        find_benchmark(name)


def test_only_its_own_local_size() -> None:
    benchmark = synthetic_benchmark(0, 3)
    (own,) = benchmark.local_sizes_of("cpu")
    with pytest.raises(InvalidInputError, match="and no other"):
        benchmark.launches("cpu", tuple(2 * extent for extent in own))
