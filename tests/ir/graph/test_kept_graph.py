"""A kernel keeps the graph of which it is the view, and nobody edits that."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from coarsen.errors import InternalError
from coarsen.frontend.lower import lower
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.graph import module_parser
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Callee, Variable
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.printer import instruction_text, module_text
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import CoarsenedKernel, laid_out, run_pipeline
from coarsen.transform.wide_accesses import widen
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.data_plan import array_plans
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant
from tests.ir.graph.check import check_function

SOURCE = """
constant float table[2] = {1.0f, 2.0f};
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void k(global float *data, local float *tile)
{
    local float own[4];
    own[get_local_id(0)] = tile[get_local_id(0)] = native_sin(data[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (data[get_global_id(0)] > 0)
        for (int i = 0; i < get_global_id(0); ++i)
            data[get_global_id(0)] += tile[3 - get_local_id(0)] + own[i & 3] + table[get_local_id(0) & 1];
}
"""
RECORDS = """
typedef struct { float x, y; } Point;
kernel void shift(global Point *points, int n)
{
    int i = get_global_id(0);
    if (i < n)
        points[i].x += points[i].y;
}
"""
VARIANTS = (
    Variant(coarsenings=(Coarsening(2),)),
    Variant(
        coarsenings=(Coarsening(2, 0, level=Level.GROUP), Coarsening(2)), transforms=Transforms(clean_up=False)
    ),
    Variant(coarsenings=(Coarsening(2), Coarsening(2, 1)), transforms=Transforms(wide_accesses=True)),
)


def said(module: Module) -> tuple[str, list[Origin]]:
    """All that a graph says: its text, and the origins in it."""
    functions = module.functions.values()
    blocks = [block for function in functions for block in function.blocks]
    origins = [origin for block in blocks for origin in (block.origin, *(i.origin for i in block.instructions))]
    return module_text(module), origins


def check_uses(module: Module) -> None:
    """Check that nothing in a graph is used by what stands elsewhere: copies are made of a kept graph itself."""
    there = {i for function in module.functions.values() for i in function.instructions()}
    for function in module.functions.values():
        check_function(function)
    for named in (*module.variables.values(), *module.callees.values()):
        assert {use.user for use in named.uses} <= there, named.name


def test_a_kernel_says_what_its_graph_says() -> None:
    kernel = lower(SOURCE)
    assert [instruction_text(i) for i in kernel.instructions()] == [
        line.strip() for line in module_text(kernel.graph).splitlines() if line.startswith("  ")
    ]


@pytest.mark.parametrize("variant", VARIANTS, ids=range(len(VARIANTS)))
def test_no_stage_edits_the_graph_of_the_kernel_that_it_is_given(
    variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[Kernel, tuple[str, list[Origin]]]] = []

    def viewed(name: str, module: Module, added: tuple[AddedArgument, ...]) -> Kernel:
        kernel = Kernel(name, module, added)
        kept.append((kernel, said(kernel.graph)))
        return kernel

    monkeypatch.setattr("coarsen.pipeline.Kernel", viewed)
    lowered = lower(SOURCE)
    kept.append((lowered, said(lowered.graph)))
    result: CoarsenedKernel = run_pipeline(lowered, variant)
    assert result.kernel.graph is not lowered.graph
    assert len(kept) == 1 + len(variant.coarsenings) + variant.transforms.wide_accesses
    assert all(said(kernel.graph) == before for kernel, before in kept)
    for kernel, _ in kept:
        check_uses(kernel.graph)


def test_one_kernel_may_be_coarsened_by_several_threads_at_once() -> None:
    kernel = lower(SOURCE)
    before = said(kernel.graph)
    variants = VARIANTS * 4
    alone = [module_text(run_pipeline(kernel, variant).kernel.graph) for variant in variants]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda v: module_text(run_pipeline(kernel, v).kernel.graph), variants))
    assert together == alone
    assert said(kernel.graph) == before
    check_uses(kernel.graph)


def test_neither_the_guard_nor_a_layout_edits_the_graph_of_the_kernel_that_it_is_given() -> None:
    kernel = lower(RECORDS)
    before = said(kernel.graph)
    laid = laid_out(kernel, array_plans(["points=soa"], [], ["points=24"]))
    assert said(kernel.graph) == before
    between = said(laid.kernel.graph)
    run_pipeline(laid.kernel, Variant(coarsenings=(Coarsening(2),), any_size=True))
    assert said(laid.kernel.graph) == between
    widen(kernel)
    assert said(kernel.graph) == before


def test_a_kept_graph_refuses_to_be_edited() -> None:
    kernel = lower(SOURCE)
    module, function = kernel.graph, kernel.graph.function("k")
    edits = (
        lambda: module.declare([Callee("f", "declare void @f()")]),
        lambda: module.add_node(["i32 1"]),
        lambda: module.add_variable(Variable("v", 3, "internal addrspace(3) global i32 undef")),
        lambda: function.add_arguments([]),
        lambda: function.detach("reqd_work_group_size"),
        lambda: function.entry.erase(function.entry.terminator),
    )
    for edit in edits:
        with pytest.raises(InternalError, match="sealed"):
            edit()


def test_a_copy_is_the_caller_s_own() -> None:
    kernel = lower(SOURCE)
    before = said(kernel.graph)
    module = kernel.editable_graph()
    assert said(module) == before
    module.function("k").entry.replace_instructions([])
    module.add_node(["i32 1"])
    assert said(kernel.graph) == before


def test_a_kernel_travels_with_its_graph() -> None:
    kernel = lower(SOURCE)
    for again in (pickle.loads(pickle.dumps(kernel)), copy.deepcopy(kernel)):
        assert (again.name, again.arguments, again.globals) == (kernel.name, kernel.arguments, kernel.globals)
        assert said(again.graph) == said(kernel.graph)
        assert again.graph.is_sealed


def test_a_text_is_parsed_once_each_time_that_llvm_gives_one_back(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: Counter[str] = Counter()

    class Counting(module_parser._ModuleParser):
        def __init__(self, lines: Sequence[str], origin_of: module_parser.OriginOf) -> None:
            texts["\n".join(lines)] += 1
            super().__init__(lines, origin_of)

    monkeypatch.setattr(module_parser, "_ModuleParser", Counting)
    lowered = lower(SOURCE)
    # What clang gives, and the normal form.
    assert [*texts.values()] == [1, 1]
    run_pipeline(lowered, VARIANTS[2])
    # For each of two coarsenings, and for the wide accesses.
    assert [*texts.values()] == [1] * 5
