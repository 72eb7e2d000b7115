"""Names of the source, carried on by transforms and through LLVM's passes."""

from __future__ import annotations

import pytest

from coarsen.frontend.lower import lower
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import NAMELESS, Derivation, DisplayName, NewName
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.names import name_after
from coarsen.ir.graph.operands import Argument, Named, Variable
from coarsen.ir.graph.origin import Origin
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType
from coarsen.transform.names import derived, like, own
from coarsen.variant.coarsening import Coarsening
from tests.coarsened_kernel import coarsen_kernel

SOURCE = """
typedef struct { float weight; int x10; } Item;
kernel void k(global Item *items, int n)
{
    int mul = get_global_id(0);
    float total = 0;
    for (int i = 0; i < n; ++i)
        total += items[mul * n + i].weight;
    items[mul].x10 = total;
}
"""
DOTTED = """
kernel void k(global float *in, global float *out)
{
    float alone = in[get_global_id(0)], out_kept = 0;
    while (alone > 1) { alone *= 0.5f; out_kept += alone; }
    out[get_global_id(0)] = out_kept;
}
"""
INT = IntegerType(32)
BEFORE = {"sum": DisplayName("sum"), "place21": DisplayName("place", "21"), "add": NAMELESS, "sum.alone": NAMELESS}


def value(spelling: str, name: DisplayName = NAMELESS) -> Instruction:
    """A value of LLVM's name, called as given."""
    return Instruction(Opcode.ADD, INT, name=spelling, origin=Origin(name=name))


@pytest.mark.parametrize(
    ("original", "derivation", "spelling", "text"),
    [
        (value("sum", DisplayName("sum")), Derivation.ALONE, "sum.alone", "sum.alone"),
        (value("sum.3", DisplayName("sum")), Derivation.ALONE, "sum.3.alone", "sum.alone"),
        (value("place21.1", DisplayName("place", "21")), Derivation.KEPT, "place21.1.kept", "place21.kept"),
        (value("i.source", DisplayName("i")), Derivation.ALONE, "i.source.alone", "i.alone"),
        # A name that looks derived is none: what counts is what was done.
        (value("sum.alone"), Derivation.ALONE, "sum.alone.alone", ""),
        (value("kept.out", DisplayName("kept")), Derivation.KEPT, "kept.out.kept", "kept.kept"),
        (value("add.4"), Derivation.OUT, "add.4.out", ""),
        (value("add.4"), Derivation.KEPT, "add.4.kept", "add.kept"),
        (value("i.lcssa"), Derivation.KEPT, "i.lcssa.kept", "i.kept"),
        (Block("head.1"), Derivation.ANY, "head.1.any", "head.any"),
        (Argument(INT, "n"), Derivation.KEPT, "n.kept", "n.kept"),
        (Variable("k.tile.1", 3, ""), Derivation.ALONE, "k.tile.1.alone", "k.tile.alone"),
    ],
)
def test_what_a_transform_makes_is_called_after_what_it_is_made_of(
    original: Named, derivation: Derivation, spelling: str, text: str
) -> None:
    name = derived(original, derivation)
    assert (name.spelling, name.display.text) == (spelling, text)


def test_derivations_add_up() -> None:
    again = derived(value("sum", DisplayName("sum")), Derivation.KEPT).derived(Derivation.PLACE, ".2")
    assert again == NewName("sum.kept.place.2", DisplayName("sum", "", (Derivation.KEPT, Derivation.PLACE)))
    assert own("replica").numbered(2) == NewName("replica.2", DisplayName("replica"))
    assert like(value("place21", DisplayName("place", "21"))).display.text == "place"


@pytest.mark.parametrize(
    ("made", "said"),
    [("sum.lcssa", "sum"), ("sum.1.ph.us", "sum"), ("place21.peel", "place"), ("add.lcssa", ""), ("i9", "")],
)
def test_what_llvm_makes_has_the_name_of_what_it_is_made_of(made: str, said: str) -> None:
    assert name_after(made, BEFORE).text == said


def names_of(kernel: Kernel, replica: int | None = None) -> set[str]:
    """The names, for a reader, of what a kernel computes."""
    placed = [i for i in kernel.instructions() if i.name and i.origin.replica == replica]
    return {instruction.origin.name.text for instruction in placed}


def test_the_front_end_says_which_values_the_source_names() -> None:
    kernel = lower(SOURCE)
    assert names_of(kernel) == {"mul", "total", "i", "weight", "x10", ""}


def test_a_coarsened_kernel_has_the_same_names() -> None:
    assert names_of(coarsen_kernel(lower(SOURCE), [Coarsening(2)]), 1) == {"mul", "total", "weight", "x10", ""}


def test_names_of_the_source_that_are_words_of_derivations_stay() -> None:
    kernel = coarsen_kernel(lower(DOTTED), [Coarsening(2)])
    derivations = {
        (i.origin.name.base, i.origin.name.derivations) for i in kernel.instructions() if i.origin.name.base
    }
    assert ("alone", (Derivation.ALONE,)) in derivations or ("alone", ()) in derivations
    assert all(base != "out" or not words for base, words in derivations)
