"""A kernel's configuration space is searched as any other, each of its variants once."""

from __future__ import annotations

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep.search_sweep import SEARCHERS
from coarsen.tuning.search.evaluator import Budget
from coarsen.tuning.search.spaces import (
    Choice,
    VariantSearchSpace,
    count_valid,
    valid_choices,
)
from coarsen.variant.coarsening import Level
from coarsen.variant.space import Dimension, TransformChoices, VariantSpace, coarsening_dimensions
from coarsen.variant.variant import Variant
from tests.opencl_bench.search.tables import ConstrainedSpace, FunctionEvaluator


def not_too_small(variant: Variant) -> str | None:
    return "fewer than 16 work-items are left" if 64 // variant.factor < 16 else None


def may_run(space: VariantSpace, choice: Choice) -> bool:
    variant = space.variant(choice)
    return variant is not None and space.violation(variant) is None


SPACE = VariantSpace(
    (
        Dimension("local_size", ((64,), (128,))),
        Dimension("-D TILE", ("8", "16")),
        Dimension("-D UNROLL", ("1", "2")),
        *coarsening_dimensions(Level.ITEM, 0, (2, 4, 8), (1, 2)),
        *TransformChoices(wide_accesses=(False, True)).dimensions(),
    ),
    constraints=(not_too_small,),
)


def test_each_variant_that_may_run_is_one_valid_choice() -> None:
    searched = VariantSearchSpace(SPACE)
    choices = list(valid_choices(searched))
    variants = [searched.variant(choice) for choice in choices]
    expected = [variant for variant in SPACE if SPACE.violation(variant) is None]
    assert variants == expected
    assert [searched.choice_of(variant) for variant in variants] == choices
    # Local size and macros alone, or beside two factors, two strides, wide accesses or not.
    assert count_valid(searched) == 2 * 2 * 2 * (1 + 2 * 2 * 2)


def test_the_axes_are_the_dimensions() -> None:
    searched = VariantSearchSpace(SPACE)
    assert [axis.values for axis in searched.axes] == [dimension.values for dimension in SPACE.dimensions]


def test_what_is_not_in_the_space_is_said() -> None:
    searched = VariantSearchSpace(SPACE)
    stride_without_factor = (0, 0, 0, 0, 1, *(0 for _ in SPACE.dimensions[5:]))
    with pytest.raises(InvalidInputError, match="stands for no variant"):
        searched.variant(stride_without_factor)
    with pytest.raises(InvalidInputError, match="not in the space: "):
        searched.choice_of(Variant((32,)))


def test_it_is_searched() -> None:
    searched = VariantSearchSpace(SPACE)

    def time_of(choice: Choice) -> float:
        variant = searched.variant(choice)
        definitions = dict(variant.definitions)
        scale = 1 / variant.factor + variant.local_size[0] / 256
        return scale * (10 + int(definitions["TILE"]) / 4 - int(definitions["UNROLL"]))

    best = min(map(time_of, valid_choices(searched)))
    for searcher in (SEARCHERS["random"], SEARCHERS["exhaustive"]):
        found = searcher.search(FunctionEvaluator(searched, time_of), Budget(), 0)
        assert found.best is not None
        assert found.best.time == best


@pytest.mark.parametrize("levels", [(Level.ITEM,), (Level.GROUP,), (Level.ITEM, Level.GROUP)])
@pytest.mark.parametrize("at_once", [1, 3])
def test_a_listed_space_is_the_same_space(levels: tuple[Level, ...], at_once: int) -> None:
    dimensions = [
        dimension
        for level in levels
        for d in (0, 1)
        for dimension in coarsening_dimensions(level, d, (2, 4), (1, 2))
    ]
    transforms = TransformChoices(wide_accesses=(False, True), any_size=(False, True)).dimensions()
    space = VariantSpace(
        (Dimension("local_size", ((64,), (128,))), Dimension("-D TILE", ("8", "16")), *dimensions, *transforms),
        at_once,
        most_merged=8,
        constraints=(not_too_small,),
    )
    listing = VariantSearchSpace(space)
    assert listing.listed is not None
    tested = ConstrainedSpace(listing.axes, lambda choice: may_run(space, choice))
    assert list(listing.listed) == list(valid_choices(tested))
    assert not listing.is_valid((0,) * (len(space.dimensions) - 1) + (1,))
    assert count_valid(listing) == count_valid(tested)


def test_a_space_of_too_many_choices_is_not_listed() -> None:
    assert SPACE.standing_choices(limit=10) is None
    macros = tuple(Dimension(f"-D M{number}", tuple(map(str, range(10)))) for number in range(9))
    large = VariantSearchSpace(VariantSpace(macros))
    assert large.listed is None
    assert large.is_valid((9,) * 9)
