"""What buffers are filled with."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.distributions import parse_distribution
from coarsen.tuning.workload.benchmark import Array
from coarsen.tuning.workload.element_types import element_type

NAMES = ("uniform(-2, 3)", "integers(-3, n)", "normal(5, 0.5)", "constant(1.5)", "zeros", "arange", "permutation")


def filled(text: str, type_name: str = "float", elements: int = 500, seed: int = 0) -> Array:
    generator = np.random.default_rng(seed)
    return parse_distribution(text).fill(generator, element_type(type_name), elements, {"n": 6})


@pytest.mark.parametrize("type_name", ["float", "double", "half"])
@pytest.mark.parametrize("text", NAMES)
def test_type_and_shape(text: str, type_name: str) -> None:
    made = filled(text, type_name)
    assert made.dtype == element_type(type_name).scalar
    assert made.shape == (500,)
    assert np.isfinite(made).all()


@pytest.mark.parametrize(("type_name", "stored"), [("float2", 2), ("int3", 4), ("uchar16", 16)])
def test_vectors_have_a_last_axis(type_name: str, stored: int) -> None:
    assert filled("integers(0, 9)", type_name, 7).shape == (7, stored)


def test_ranges() -> None:
    uniform = filled("uniform(-2, 3)")
    assert -2 <= uniform.min() < -1.5 and 2.5 < uniform.max() < 3
    assert set(filled("integers(-3, n)", "short")) == set(range(-3, 6))
    normal = filled("normal(5, 0.5)")
    assert abs(normal.mean() - 5) < 0.1 and 0.4 < normal.std() < 0.6
    assert (filled("constant(-n)", "char") == -6).all()
    assert not filled("zeros", "ulong").any()
    assert (filled("arange", "uint") == np.arange(500)).all()
    shuffled = filled("permutation", "int")
    assert (np.sort(shuffled) == np.arange(500)).all() and (shuffled != np.arange(500)).any()


def test_unwritten_is_no_value_that_a_kernel_would_write() -> None:
    assert np.isnan(filled("unwritten")).all()
    assert (filled("unwritten", "uchar") == 0xA5).all()


def test_all_of_a_type_can_be_drawn() -> None:
    assert filled("integers(0, 18446744073709551616)", "ulong").max() > 2**63
    assert set(filled("integers(0, 256)", "uchar", 5000)) == set(range(256))


@pytest.mark.parametrize("text", ["uniform(-2, 3)", "integers(0, 100)", "normal(0, 1)", "permutation"])
def test_the_seed_decides(text: str) -> None:
    assert np.array_equal(filled(text, seed=3), filled(text, seed=3))
    assert not np.array_equal(filled(text, seed=3), filled(text, seed=4))


@pytest.mark.parametrize(
    ("text", "type_name", "words"),
    [
        ("gauss(0, 1)", "float", "no distribution; there are uniform"),
        ("uniform", "float", r"must have the form uniform\(low, high\)"),
        ("uniform(1)", "float", "must have the form"),
        ("zeros(1)", "float", "must have the form zeros"),
        ("uniform(low=1, high=2)", "float", "no distribution"),
        ("uniform(0, 1)(2)", "float", "no distribution"),
        ("uniform(2, 1)", "float", "no number between 2 and 1"),
        ("uniform(0, 1)", "int", r"integers\(low, high\) is for int"),
        ("normal(0, -1)", "float", "below 0"),
        ("integers(0, 257)", "uchar", "beyond what uchar holds"),
        ("integers(-1, 5)", "uint", "beyond what uint holds"),
        ("integers(0, 1.5)", "float", "whole numbers"),
        ("constant(0.5)", "int", "beyond what int holds"),
        ("constant(1e999)", "float", "finite numbers"),
        ("constant('a')", "float", "may only have"),
        ("uniform(0, +1.5)", "float", "may only have"),
        ("constant(n // 0)", "int", "divides by zero"),
        ("", "float", "no expression"),
        ("constant(1e300)", "float", "beyond what float holds"),
        ("uniform(-1e300, 1e300)", "float", "beyond what float holds"),
        ("uniform(-3e38, 3e38)", "float", "beyond what float holds"),
        ("uniform(-60000, 60000)", "half", "beyond what half holds"),
        ("integers(0, 70000)", "half", "beyond what half holds"),
        ("normal(0, 60000)", "half", "beyond what half holds"),
        ("normal(0, 3e38)", "float", "beyond what float holds"),
        ("arange", "uchar", "counts to 499, which is beyond what uchar holds"),
        ("permutation", "char", "counts to 499, which is beyond what char holds"),
    ],
)
def test_mistakes(text: str, type_name: str, words: str) -> None:
    with pytest.raises(InvalidInputError, match=words):
        filled(text, type_name)


@pytest.mark.parametrize("name", ["float5", "size_t", "bool", "float*", "Float", "", "float32", "int 4"])
def test_unknown_types(name: str) -> None:
    with pytest.raises(InvalidInputError, match=r"is no type( \(did you mean .*\?\))?; there are char"):
        element_type(name)
