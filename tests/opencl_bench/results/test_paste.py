"""The lines to paste say what was measured, and the command line takes them."""

from __future__ import annotations

import shlex

import pytest

from coarsen.opencl_bench.results.paste import paste_of
from coarsen.variant.coarsening import Coarsening, Level, configuration, configuration_of
from coarsen.variant.data_layout import SOA, Order
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.pads import Pad
from coarsen.variant.placement import Place
from coarsen.variant.transforms import REPLICATION_ALONE, Tile, Transforms
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

TWO = (Coarsening(2, 0), Coarsening(4, 1, 8))


def test_of_a_tile_the_local_size_is_pasted_too() -> None:
    candidate = Variant((64, 64), TWO, transforms=Transforms(tile=Tile("16")))
    paste = paste_of(some_measurement(candidate=candidate), "k.cl")
    assert paste.python.endswith("stride=(1, 8), tile='16')")
    assert paste.command.endswith("--tile 16 --local-size 64x64")


@pytest.mark.parametrize(
    ("coarsenings", "python", "words"),
    [
        ((Coarsening(4, 1),), "factor=4, dim=1", "--factor 4 --dim 1"),
        ((Coarsening(4, 0, 8),), "factor=4, dim=0, stride=8", "--factor 4 --dim 0 --stride 8"),
        (
            TWO,
            "factor=(2, 4), dim=(0, 1), stride=(1, 8)",
            "--factor 2 --dim 0 --stride 1 --factor 4 --dim 1 --stride 8",
        ),
    ],
)
def test_what_to_paste(coarsenings: tuple[Coarsening, ...], python: str, words: str) -> None:
    candidate = Variant((16, 16), configuration(coarsenings))
    paste = paste_of(some_measurement(candidate=candidate), "my kernel.cl")
    assert paste.python == f"coarsen.Program(context, source, {python})"
    assert paste.command == f"coarsen apply 'my kernel.cl' --kernel mysgemmNT {words}"
    assert paste.launch == "launch it with the original global size and local size 16×16"
    arguments = eval(f"dict({python})")
    assert configuration_of(
        arguments["factor"], arguments["dim"], arguments.get("stride", 1), "item"
    ) == configuration(coarsenings)


def test_macros_are_said() -> None:
    candidate = Variant((16,), (Coarsening(2),), (("NAME", "a b"), ("TILE", "16")))
    paste = paste_of(some_measurement(candidate=candidate))
    assert paste.python.endswith(".build(['-DNAME=a b', '-DTILE=16'])")
    assert shlex.split(paste.command)[-4:] == ["-D", "NAME=a b", "-D", "TILE=16"]


def test_layouts_are_said() -> None:
    arrays = (ArrayPlan("bodies", SOA), ArrayPlan("image", order=Order((1, 0)), shape=(4, 5)))
    paste = paste_of(some_measurement(candidate=Variant((16,), arrays=arrays)))
    words = "--factor 1 --layout bodies=soa --order image=1,0 --shape image=4,5"
    assert paste.python == "" and paste.command.endswith(words)
    assert paste.launch.startswith("pack bodies and image as the command says (coarsen.Layout), and launch it")


def test_places_and_pads_are_said() -> None:
    arrays = (
        ArrayPlan("tile", pad=Pad(elements=1)),
        ArrayPlan("w", shape=(3, 3), place=Place.LOCAL),
        ArrayPlan("x", place=Place.CONSTANT),
    )
    paste = paste_of(some_measurement(candidate=Variant((16,), (Coarsening(2),), arrays=arrays)))
    assert paste.python == (
        "coarsen.Program(context, source, factor=2, dim=0, arrays=[coarsen.array_plan('tile', pad='1'), "
        "coarsen.array_plan('w', shape=[3, 3], place='local'), coarsen.array_plan('x', place='constant')])"
    )
    assert paste.command.endswith("--pad tile=1 --shape w=3,3 --place w=local --place x=constant")
    assert paste.launch.startswith("launch it with the original")
    # A program's launches that aren't coarsened have their arrays as they are written.
    assert not paste_of(some_measurement(candidate=Variant((16,), arrays=arrays))).python


def test_nothing_to_paste_where_nothing_is_faster() -> None:
    paste = paste_of(some_measurement(candidate=Variant((64,))))
    assert paste.lines == ("leave mysgemmNT as it is, at local size 64",)


def test_levels_and_transforms_are_said() -> None:
    coarsenings = (Coarsening(2, 1, level=Level.GROUP), Coarsening(4))
    paste = paste_of(some_measurement(candidate=Variant((8, 8), coarsenings, transforms=REPLICATION_ALONE)))
    assert paste.python == (
        "coarsen.Program(context, source, factor=(2, 4), dim=(1, 0), level=('group', 'item'), "
        "fast_path='never', lock_step='never', clean_up=False)"
    )
    assert paste.command.endswith(
        "--factor 2 --dim 1 --level group --factor 4 --dim 0 --level item "
        "--fast-path never --lock-step never --no-clean-up"
    )


def test_what_a_program_can_not_do_is_left_to_the_command() -> None:
    wide = Variant((64,), (Coarsening(2),), transforms=Transforms(wide_accesses=True), any_size=True)
    paste = paste_of(some_measurement(candidate=wide))
    assert paste.python == "coarsen.Program(context, source, factor=2, dim=0, wide_accesses=True)"
    assert paste.command.endswith("--factor 2 --dim 0 --wide-accesses --any-size")
    moved = Variant((64,), (Coarsening(2),), arrays=(ArrayPlan("bodies", SOA),))
    assert paste_of(some_measurement(candidate=moved)).python == ""
