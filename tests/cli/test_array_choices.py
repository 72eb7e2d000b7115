"""`coarsen bench --layout`, `--order`, `--place`, `--pad`: what is left to be chosen, and how it is searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.cli.variant_options import array_choices
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.tuning.search.spaces import VariantSearchSpace
from coarsen.variant.data_layout import AOS, SOA, ArrayLayout, Order
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.pads import NO_PAD, XOR, Pad
from coarsen.variant.placement import Place
from coarsen.variant.space import AS_WRITTEN, ArrayChoices, Dimension, PlaceChoice, VariantSpace
from coarsen.variant.variant import Variant
from tests.cli.conftest import Run


def test_values_by_argument() -> None:
    found = array_choices({"layout": ["bodies=soa, aosoa:32", "image=soa"], "order": ["image=1,0", "image=0,1"]})
    assert found == (
        ArrayChoices("bodies", (SOA, ArrayLayout.parse("aosoa:32"))),
        ArrayChoices("image", (SOA,), (Order((1, 0)), Order((0, 1)))),
    )


@pytest.mark.parametrize(
    ("layouts", "orders", "message"),
    [
        (["bodies"], [], "--layout is written as ARGUMENT=VALUE, not 'bodies'"),
        (["bodies=soa,rows"], [], "a layout is aos, soa, aosoa:WIDTH, deep-soa or deep-aosoa:WIDTH, not 'rows'"),
        ([f"bodies=aosoa:{'9' * 5000}"], [], "the width of a tile has 5000 digits"),
        ([], ["image=1"], "an order names each dimension once"),
    ],
)
def test_what_can_not_be_read(layouts: list[str], orders: list[str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        array_choices({"layout": layouts, "order": orders})


def test_arrays_are_independent_of_each_other_and_of_the_launch() -> None:
    dimensions = [
        each
        for choices in array_choices({"layout": ["bodies=soa"], "order": ["bodies=1,0"]})
        for each in choices.dimensions()
    ]
    space = VariantSearchSpace(VariantSpace((Dimension("local_size", ((64,), (32,))), *dimensions)))
    assert [(axis.name, axis.values) for axis in space.axes] == [
        ("local_size", ((64,), (32,))),
        ("layout_bodies", (AOS, SOA)),
        ("order_bodies", (None, Order((1, 0)))),
    ]
    assert [space.choice_of(space.variant(choice)) for choice in ((0, 1, 1), (1, 0, 1))] == [(0, 1, 1), (1, 0, 1)]
    assert space.variant((0, 0, 0)) == Variant((64,))


PLACED = {"place": ["w=constant,local", "w=local"], "pad": ["tile=1, xor"], "shape": ["w=5,5"]}


def test_places_and_pads() -> None:
    assert array_choices(PLACED) == (
        ArrayChoices("w", places=(Place.CONSTANT, Place.LOCAL, Place.LOCAL), shape=(5, 5)),
        ArrayChoices("tile", pads=(Pad(elements=1), XOR)),
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"place": ["w=image"]}, "image is not offered"),
        ({"place": ["w=const"]}, "a place is global, constant, noncoherent, local, not 'const'"),
        ({"place": ["w=constant"], "shape": ["w=5"]}, "--shape w=… goes with --place w=local"),
        ({"shape": ["w=5"]}, "--shape w=… goes with --place w=local"),
        ({"pad": ["tile=1,auto"]}, "--pad tile=auto is for `coarsen apply`"),
        ({"pad": ["tile=one"]}, "a pad is a number of elements, xor or auto, not 'one'"),
        ({"pad": ["tile"]}, "--pad is written as ARGUMENT=VALUE, not 'tile'"),
    ],
)
def test_places_and_pads_that_can_not_be_read(options: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        array_choices(options)


def test_places_and_pads_are_searched_as_layouts_are() -> None:
    dimensions = [each for choices in array_choices(PLACED) for each in choices.dimensions()]
    space = VariantSearchSpace(VariantSpace(tuple(dimensions)))
    assert [(axis.name, axis.values) for axis in space.axes] == [
        ("memory_w", (AS_WRITTEN, PlaceChoice(Place.CONSTANT), PlaceChoice(Place.LOCAL, (5, 5)))),
        ("pad_tile", (NO_PAD, Pad(elements=1), XOR)),
    ]
    both = Variant(arrays=(ArrayPlan("w", shape=(5, 5), place=Place.LOCAL), ArrayPlan("tile", pad=XOR)))
    assert space.variant((2, 2)) == both and space.choice_of(both) == (2, 2)
    assert {space.choice_of(variant) for variant in space.space} == {(i, j) for i in range(3) for j in range(3)}
    assert [str(value) for value in space.axes[0].values] == ["global", "constant", "local:5,5"]


@pytest.mark.parametrize(
    "option", [("--order", "imag=1,0"), ("--layout", "bodies=soa"), ("--place", "x=local"), ("--pad", "x=1")]
)
def test_an_argument_that_the_kernel_lacks_ends_bench_before_anything_is_compiled(
    option: tuple[str, str], tmp_path: Path, run: Run, device: DeviceDescription
) -> None:
    store = tmp_path / "store.sqlite"
    outcome = run("bench", "sobel", "--device", device.index, *option, "--store", store)
    name = option[1].partition("=")[0]
    assert outcome.code == 2 and not store.exists()
    assert f"sobel: its kernel has no argument '{name}'" in outcome.error and "; it has " in outcome.error
