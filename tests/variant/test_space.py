"""Spaces hold each variant once, find it again, draw from it without bias, and know its neighbours."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.data_layout import AOS, SOA, Order
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.pads import NO_PAD, XOR, Pad
from coarsen.variant.placement import Place
from coarsen.variant.space import (
    ArrayChoices,
    Dimension,
    TransformChoices,
    VariantSpace,
    coarsening_dimensions,
)
from coarsen.variant.transforms import Tile, Transforms, Use
from coarsen.variant.variant import Variant

numbers = st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=3, unique=True).map(tuple)


@st.composite
def spaces(draw: st.DrawFn) -> VariantSpace:
    dimensions = [Dimension("local_size", ((64,), (128,)))]
    if draw(st.booleans()):
        dimensions.append(Dimension("-D TILE", ("8", "16")))
    for level in draw(st.lists(st.sampled_from(Level), min_size=1, unique=True)):
        for dimension in draw(st.lists(st.sampled_from([0, 1]), min_size=1, unique=True)):
            dimensions.extend(coarsening_dimensions(level, dimension, draw(numbers), draw(numbers)))
    tiles = draw(st.sampled_from([(Tile(),), (Tile(), Tile("16")), (Tile("8"),)]))
    wide = TransformChoices(wide_accesses=(False, True) if draw(st.booleans()) else (False,), tile=tiles)
    dimensions.extend(wide.dimensions())
    if draw(st.booleans()):
        dimensions.extend(ArrayChoices("factor_1", (SOA,), (Order((1, 0)),)).dimensions())
    return VariantSpace(tuple(dimensions), draw(st.integers(1, 3)))


@given(spaces())
def test_each_variant_is_there_once_and_found_again(space: VariantSpace) -> None:
    variants = list(space)
    assert len(variants) == len(set(variants)) <= space.choices
    assert all(len(variant.coarsenings) <= space.most_coarsenings for variant in variants)
    assert all(space.variant(space.choice_of(variant)) == variant for variant in variants)
    assert [space.choice(number) for number in (0, space.choices - 1)] == [
        tuple(0 for _ in space.dimensions),
        tuple(len(dimension.values) - 1 for dimension in space.dimensions),
    ]


def test_a_tile_is_a_choice_of_uncoarsened_variants_unless_there_is_no_other() -> None:
    for tiles, count in (((Tile(), Tile("16"), Tile("32")), 6), ((Tile("16"),), 2)):
        space = VariantSpace(
            (Dimension("factor_0", (1, 2)), *TransformChoices(wide_accesses=(True,), tile=tiles).dimensions())
        )
        assert len([*space]) == count
        assert Variant() in [*space]
        choices = space.standing_choices(100)
        assert choices is not None and [*map(space.variant, choices)] == [*space]
    # Nothing else has an effect on a kernel that isn't coarsened.
    assert Variant(transforms=Transforms(wide_accesses=True)) == Variant()


def test_arrays_are_dimensions_of_coarsened_and_uncoarsened_variants() -> None:
    choices = ArrayChoices("bodies", (SOA, AOS, SOA), (Order((0,)),))
    (dimension,) = choices.dimensions()
    assert (dimension.name, dimension.values) == ("layout_bodies", (AOS, SOA))
    space = VariantSpace((*coarsening_dimensions(Level.ITEM, 0, (4,), (1,)), dimension))
    laid = (ArrayPlan("bodies", SOA),)
    four = (Coarsening(4),)
    assert list(space) == [
        Variant(), Variant(arrays=laid), Variant(coarsenings=four), Variant(coarsenings=four, arrays=laid)
    ]  # fmt: skip
    with pytest.raises(ValueError, match="not in the space"):
        space.choice_of(Variant(arrays=(ArrayPlan("others", SOA),)))


def big_space() -> VariantSpace:
    """More than 10⁹ choices, whose factors make at most 4096."""
    strides = tuple(2**exponent for exponent in range(1, 12))
    dimensions = [
        entry
        for level in Level
        for dimension in range(3)
        for entry in coarsening_dimensions(level, dimension, (2, 3, 4), strides)
    ]
    macro = Dimension("-D TILE", tuple(map(str, range(100))))
    return VariantSpace((macro, *dimensions, Dimension("fast_path", tuple(Use))))


def test_a_space_too_large_to_enumerate_is_sampled() -> None:
    space = big_space()
    assert space.choices > 10**9
    drawn = space.sample(50, seed=1)
    assert len(drawn) == len(set(drawn)) == 50
    assert drawn == space.sample(50, seed=1) != space.sample(50, seed=2)
    assert all(space.variant(space.choice_of(variant)) == variant for variant in drawn)


def test_samples_are_drawn_evenly_and_keep_to_constraints() -> None:
    def only_even(variant: Variant) -> str | None:
        return None if all(entry.factor % 2 == 0 for entry in variant.coarsenings) else "it is odd"

    dimensions = [*coarsening_dimensions(Level.ITEM, 0, (2, 3, 4, 6), (1,))]
    space = VariantSpace((Dimension("local_size", ((64,),)), *dimensions), constraints=(only_even,))
    drawn = Counter(variant.factor for seed in range(2000) for variant in space.sample(1, seed))
    assert set(drawn) == {1, 2, 4, 6}
    assert all(400 < count < 600 for count in drawn.values())
    assert len(space.sample(10, seed=0)) == 4


def test_what_is_not_in_the_space() -> None:
    space = VariantSpace((Dimension("local_size", ((64,),)), *coarsening_dimensions(Level.ITEM, 0, (2,), (1,))))
    for variant in (Variant((64,), (Coarsening(4),)), Variant((64,), (Coarsening(2, 1),)), Variant((32,))):
        with pytest.raises(ValueError, match="not in"):
            space.choice_of(variant)


def test_a_local_size_that_follows_from_a_macro_is_no_dimension_of_its_own() -> None:
    dimensions = (Dimension("-D BLKSZ", ("64", "32")), *coarsening_dimensions(Level.ITEM, 0, (2,), (1,)))
    space = VariantSpace(dimensions, local_size_of=lambda definitions: (int(dict(definitions)["BLKSZ"]), 1))
    assert {(variant.local_size, variant.definitions) for variant in space} == {
        ((64, 1), (("BLKSZ", "64"),)),
        ((32, 1), (("BLKSZ", "32"),)),
    }
    assert all(space.variant(space.choice_of(variant)) == variant for variant in space)
    with pytest.raises(ValueError, match="not in the space"):
        space.choice_of(Variant((64, 1), definitions=(("BLKSZ", "32"),)))


def test_pads_are_values_of_a_dimension() -> None:
    (dimension,) = ArrayChoices("tile", pads=(Pad(elements=1), XOR)).dimensions()
    assert (dimension.name, dimension.values) == ("pad_tile", (NO_PAD, Pad(elements=1), XOR))
    space = VariantSpace((dimension,))
    padded = [Variant(), *(Variant(arrays=(ArrayPlan("tile", pad=pad),)) for pad in (Pad(elements=1), XOR))]
    assert list(space) == padded
    assert [space.variant(space.choice_of(variant)) for variant in padded] == padded
    with pytest.raises(ValueError, match="not in the space"):
        space.choice_of(Variant(arrays=(ArrayPlan("tile", place=Place.CONSTANT),)))
