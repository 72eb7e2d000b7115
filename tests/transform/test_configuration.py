"""What to coarsen by: values of other types that mean the same, and those that mean nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import MOST_MERGED, Coarsening, Level, configuration_of


def test_whole_numbers_of_numpy() -> None:
    factor: Any = np.int64(4)
    assert configuration_of(factor, dim=1) == (Coarsening(4, 1),)
    assert type(configuration_of(factor)[0].factor) is int


def test_a_level_by_its_name() -> None:
    name: Any = "group"
    assert Coarsening(2, level=name).level is Level.GROUP


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("4",), "factor must be a whole number, not '4'"),
        ((True,), "factor must be a whole number, not True"),
        ((np.float32(2),), "factor must be a whole number, not "),
        ((np.array([2, 4]),), "factor must be a whole number, not "),
        ((MOST_MERGED + 1,), "the factor must be at most 4096, not 4097"),
        (((64, 64, 2), (0, 1, 2)), "the product of all factors must be at most 4096, not 8192"),
        ((2, "0"), "dim must be a whole number, not '0'"),
        ((2, 0, 2**70), "the stride must be at most 4294967296, not "),
        ((2, 0, 1, "warp"), "the level must be 'item' or 'group', not 'warp'"),
    ],
)
def test_what_means_nothing(arguments: Any, message: str) -> None:  # noqa: ANN401 (any type)
    with pytest.raises(InvalidInputError, match=message):
        configuration_of(*arguments)


@pytest.mark.parametrize("name", ["factor", "dimension", "stride"])
def test_a_coarsening_checks_its_numbers(name: str) -> None:
    wrong: Any = {"factor": 2, name: "2"}
    with pytest.raises(InvalidInputError, match=f"{name} must be a whole number, not '2'"):
        Coarsening(**wrong)
