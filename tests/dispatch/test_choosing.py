"""The generated functions choose as the tree says, of numbers that the formulas come to."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coarsen.dispatch.choosing import feature_values
from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.launch_sizes import sequence_function, size_inputs
from coarsen.dispatch.steps import binary_logarithm
from coarsen.dispatch.tree import DEEPEST, MOST_LEAVES, Leaf, Split, Tree, answer
from tests.dispatch.files import ARGUMENTS, FILE, PLAIN, chooser

WHOLE = st.integers(-(2**64), 2**64) | st.integers(-20, 20)


def value_of(expression: str, **numbers: float) -> float | None:
    values = feature_values([Feature("f", expression)], ARGUMENTS).of(numbers)
    return None if values is None else values["f"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("width // height", 2.0),
        ("width % height", 1.0),
        ("width / height", 7 / 3),
        ("-width + 2 * height", -1.0),
        ("max(width, height, 9)", 9.0),
        ("min(width, 2.5)", 2.5),
        ("log2(8)", 3.0),
        ("log2(1 / 1024)", -10.0),
        ("width * 9223372036854775807", None),
        ("width - 1 - 9223372036854775807 - 9223372036854775807", None),
        ("(0 - 1) // width", None),
        ("width % (height - 3)", None),
        ("width / (height - 3)", None),
        ("log2(height - 3)", None),
        ("1e308 * width", None),
        ("min(1e308 * width, 3.0)", 3.0),
        ("5 * 1 // 2 + 0.25", 2.25),
    ],
)
def test_value(expression: str, value: float | None) -> None:
    names = {name: number for name, number in {"width": 7, "height": 3}.items() if name in expression}
    assert value_of(expression, **names) == value


@given(WHOLE, WHOLE)
def test_whole_numbers_have_64_bits(width: int, height: int) -> None:
    value = value_of("width * height - width", width=width, height=height)
    steps = (width, height, width * height, width * height - width)
    assert value == (float(steps[-1]) if all(-(2**63) <= step < 2**63 for step in steps) else None)


@given(st.floats(min_value=sys.float_info.min, max_value=sys.float_info.max))
def test_the_logarithm_is_nearly_that_of_the_library(value: float) -> None:
    assert math.isclose(binary_logarithm(value), math.log2(value), rel_tol=1e-15, abs_tol=1e-15)


@pytest.mark.parametrize("exponent", [*range(-1074, -1060), *range(-3, 64), 1023])
def test_the_logarithm_of_a_power_of_two_is_exact(exponent: int) -> None:
    assert binary_logarithm(math.ldexp(1.0, exponent)) == exponent


@given(st.integers(1, 2**31), st.integers(1, 2**31), st.floats(0, 1), st.integers(0, 2**40), st.floats(-9, 9))
def test_the_choice_is_that_of_the_tree(width: int, height: int, spread: float, size: int, scale: float) -> None:
    numbers = {"width": width, "height": height, "spread": spread, "bytes_a": size, "scale": scale}
    values = feature_values(PLAIN.features, PLAIN.arguments).of(numbers)
    assert values is not None
    assert chooser(PLAIN)(numbers) == answer(PLAIN.tree, values)


@pytest.mark.parametrize("spread", [math.nan, math.inf, -math.inf])
def test_no_version_is_chosen_by_what_is_no_number(spread: float) -> None:
    made = chooser(replace(PLAIN, tree=Split("spread", 0.5, Leaf(0), Leaf(1))))
    assert made({"spread": spread}) is None


def test_keywords_as_names_reach_no_code() -> None:
    arguments = (KernelArgument("lambda", ArgumentKind.BUFFER), KernelArgument("__import__", ArgumentKind.WHOLE))
    formulas = {"class": "bytes_lambda", "__builtins__": "__import__ + 1", "def": "__import__ / 4"}
    values = feature_values([Feature(*each) for each in formulas.items()], arguments)
    found = values.of({"bytes_lambda": 8, "__import__": 2})
    assert found == {"class": 8.0, "__builtins__": 3.0, "def": 0.5}


def test_the_largest_trees_are_compiled() -> None:
    deep: Tree = Leaf(0)
    for depth in range(DEEPEST):
        deep = Split("aspect", float(-depth), deep, Leaf(1))
    assert chooser(replace(FILE, tree=deep))({"width": 2**40, "height": 1}) == 0
    assert chooser(replace(FILE, tree=deep))({"height": 1, "width": 1}) in (0, 1)
    trees: list[Tree] = [Leaf(number % 2) for number in range(MOST_LEAVES)]
    while len(trees) > 1:
        trees = [Split("spread", float(len(trees)), *pair) for pair in zip(trees[::2], trees[1::2], strict=True)]
    assert chooser(replace(FILE, tree=trees[0]))({"spread": 0.5}) in (0, 1)


def test_sizes() -> None:
    inputs = size_inputs(FILE)
    assert inputs == ("bytes_a", "width", "height")
    found = sequence_function(FILE, FILE.versions[1], inputs)(0, 3, 9)
    assert found is not None
    (sizes,) = found.launches
    assert (sizes.global_size, sizes.local_size, sizes.local_memory) == ((3,), (128,), {4: 512})
    assert sequence_function(FILE, FILE.versions[0], inputs)(0, 3, 0) is None
