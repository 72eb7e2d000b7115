"""Names of the source, carried on by transforms and through LLVM's passes."""

from __future__ import annotations

import pytest

from coarsen.frontend.lower import lower
from coarsen.ir.graph.derived_names import carry_names_on, name_after, source_names
from coarsen.ir.graph.origin import Origin
from coarsen.pipeline import coarsen_kernel
from coarsen.variant.coarsening import Coarsening

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
BEFORE = {
    "n": "n",
    "entry": "entry",
    "sum": "sum",
    "place21": "place",
    "i.source": "i",
    "add": "",
    "i.lcssa": "",
    "call.2": "",
}


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("sum", "sum"),
        ("sum.3", "sum"),
        ("sum.3.alone", "sum.alone"),
        ("sum.next", "sum"),
        ("sum.kept.place.1", "sum.kept.place"),
        ("place21.1", "place"),
        ("place21.1.kept", "place21.kept"),
        ("i.source.1", "i"),
        ("i.source.alone", "i.alone"),
        ("add.1", ""),
        ("add.alone.4", ""),
        ("add.kept", "add.kept"),
        ("entry.any.of.1", "entry.any.of"),
        ("replica.next.1", "replica"),
        ("wide.2", "wide"),
        ("call.5", ""),
        ("call.2.1", ""),
        ("i.7", ""),
        ("i.lcssa.1", ""),
        ("i.lcssa.kept", "i.kept"),
    ],
)
def test_what_a_transform_makes_is_called_after_what_it_is_made_of(made: str, said: str) -> None:
    module = lower(SOURCE).editable_graph()
    function = module.function("k")
    instruction = next(i for i in function.instructions() if i.name)
    instruction.name = made
    instruction.origin = Origin(name="of something else")
    carry_names_on(function, BEFORE)
    assert instruction.origin.name == said


@pytest.mark.parametrize(
    ("made", "said"),
    [("sum.lcssa", "sum"), ("sum.1.ph.us", "sum"), ("add.lcssa", ""), ("i9", "")],
)
def test_what_llvm_makes_has_the_name_of_what_it_is_made_of(made: str, said: str) -> None:
    assert name_after(made, BEFORE) == said


def test_the_front_end_says_which_values_the_source_names() -> None:
    kernel = lower(SOURCE)
    names = {i.origin.name for i in kernel.instructions() if i.name}
    assert names == {"mul", "total", "i", "weight", "x10", ""}
    assert set(source_names(kernel.graph.function("k")).values()) >= {"items", "n", "entry", "mul"}


def test_a_coarsened_kernel_has_the_same_names() -> None:
    kernel = coarsen_kernel(lower(SOURCE), [Coarsening(2)])
    names = {i.origin.name for i in kernel.instructions() if i.origin.replica == 1}
    assert names == {"mul", "total", "weight", "x10", ""}
