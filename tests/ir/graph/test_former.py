"""What LLVM gives back as it was stays the object that it was."""

from __future__ import annotations

from itertools import permutations

import pytest

from coarsen.errors import InternalError
from coarsen.frontend.lower import lower
from coarsen.ir.graph import locations
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import FormerModule, Lines, parse_module
from coarsen.ir.graph.printer import instruction_text, module_text
from coarsen.pipeline import run_pipeline
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant
from tests.ir.graph.check import check_function

GIVEN = """\
@v = internal addrspace(3) global i32 undef, align 4
declare void @f(i32)

define void @k(i32 noundef %n, ptr addrspace(1) %p) {
entry:
  %a = add i32 %n, 1
  %b = mul i32 %a, 2
  %c = icmp slt i32 %a, %b
  store i32 %b, ptr addrspace(1) %p, align 4
  store i32 %b, ptr addrspace(1) %p, align 4
  store ptr addrspace(3) @v, ptr addrspace(1) %p, align 4
  call void @f(i32 %b)
  br i1 %c, label %then, label %end

then:
  br label %end

end:
  %d = phi i32 [ %a, %entry ], [ %b, %then ]
  call void @f(i32 %d)
  ret void
}
"""
# Another sum; a block and a comparison are gone, a store stands in another block.
GIVEN_BACK = """\
@v = internal addrspace(3) global i32 0, align 4
declare void @f(i32) nounwind

define void @k(i32 %n, ptr addrspace(1) %p) {
entry:
  %a = add i32 %n, 3
  %b = mul i32 %a, 2
  store i32 %b, ptr addrspace(1) %p, align 4
  store ptr addrspace(3) @v, ptr addrspace(1) %p, align 4
  call void @f(i32 %b)
  br label %end

end:
  store i32 %b, ptr addrspace(1) %p, align 4
  %d = add i32 %a, %b
  call void @f(i32 %d)
  ret void
}
"""
SOURCE = """
typedef struct { float4 place; int kind; } Body;
float weight(float x, int kind) { return kind > 2 ? native_sin(x) : x * 0.5f; }
kernel void k(global Body *bodies, global const int *kinds, global float *out, int n, local float *shared)
{
    local float own[16];
    int i = get_global_id(0), l = get_local_id(0);
    float sum = 0;
    own[l & 15] = shared[l] = bodies[i].place.x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < kinds[i]; ++j) {
        if (kinds[j] == 3)
            sum += weight(bodies[j].place.y, kinds[j]);
        else
            sum -= own[j & 15];
        out[n * i + j] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    switch (bodies[i].kind) {
        case 0: out[i] = sum; break;
        case 1: out[i] = weight(sum, n); break;
        default: out[i] = shared[l] + i / n;
    }
}
"""
VARIANTS = (
    Variant(coarsenings=(Coarsening(2),)),
    Variant(coarsenings=(Coarsening(3, 0, 2),), transforms=Transforms(clean_up=False)),
    Variant(coarsenings=(Coarsening(2, level=Level.GROUP),), transforms=Transforms(wide_accesses=True)),
    Variant(coarsenings=(Coarsening(2), Coarsening(2, level=Level.GROUP)), transforms=Transforms(distinct=True)),
)


def given(text: str = GIVEN) -> tuple[Module, Lines]:
    module = parse_module(text)
    lines = {instruction_text(each).partition(", !")[0]: each for each in module.function("k").instructions()}
    return module, lines


def test_the_text_is_that_of_a_module_that_is_read_anew() -> None:
    module, lines = given()
    back = parse_module(GIVEN_BACK, former=FormerModule(module, {"k": lines}))
    assert module_text(back) == module_text(parse_module(GIVEN_BACK))
    check_function(back.function("k"))


def test_what_is_unchanged_is_the_same_object() -> None:
    module, lines = given()
    former = dict(lines)
    back = parse_module(GIVEN_BACK, former=FormerModule(module, {"k": lines}))
    now = {instruction_text(each): each for each in back.function("k").instructions()}
    assert now["%b = mul i32 %a, 2"] is former["%b = mul i32 %a, 2"]
    assert now["%a = add i32 %n, 3"] is now["%b = mul i32 %a, 2"].operands[0]
    assert back.callees["f"] is module.callees["f"]
    assert back.callees["f"].declaration == "declare void @f(i32) nounwind"
    assert back.variables["v"].definition == "internal addrspace(3) global i32 0, align 4"
    assert [argument.attributes for argument in back.function("k").arguments] == ["", ""]


def test_nothing_that_is_gone_keeps_a_use() -> None:
    module, lines = given()
    back = parse_module(GIVEN_BACK, former=FormerModule(module, {"k": lines}))
    there = {*back.function("k").instructions()}
    for named in (*back.callees.values(), *back.variables.values(), *back.function("k").arguments, *there):
        assert {use.user for use in named.uses} <= there


def test_what_is_sealed_is_not_taken_apart() -> None:
    module, lines = given()
    module.seal()
    with pytest.raises(InternalError, match="sealed"):
        parse_module(GIVEN_BACK, former=FormerModule(module, {"k": lines}))
    assert module_text(module) == module_text(parse_module(GIVEN))


def test_nothing_is_taken_apart_twice() -> None:
    """The second module would have the blocks of the first one."""
    module, lines = given()
    back = parse_module(GIVEN_BACK, former=FormerModule(module, {"k": lines}))
    with pytest.raises(InternalError, match="'entry' stands in what LLVM has given back already"):
        parse_module(GIVEN_BACK, former=FormerModule(module, {"k": {}}))
    assert module_text(back) == module_text(parse_module(GIVEN_BACK))


def test_a_value_that_is_used_must_be_there() -> None:
    module, lines = given()
    with pytest.raises(InternalError, match="'a' is used and not"):
        parse_module(GIVEN_BACK.replace("  %a = add i32 %n, 3\n", ""), former=FormerModule(module, {"k": lines}))


def test_metadata_is_what_is_given_back() -> None:
    """LLVM drops what does not hold any more of a value that it merges or moves, and numbers nodes anew."""
    nodes = "\n!0 = !{i32 0, i32 9}\n!1 = !{i32 0, i32 8}\n"
    load = "  %l = load i32, ptr addrspace(1) %p, align 4"
    before, after = (
        text.replace("  %b = mul", f"{load}, NODES\n  %b = mul") + nodes for text in (GIVEN, GIVEN_BACK)
    )
    for new in (", !range !1", ", !range !0, !nonnull !1", ""):
        module, lines = given(before.replace(", NODES", ", !range !0, !invariant.load !1"))
        loaded = lines[load.strip()]
        text = after.replace(", NODES", new)
        back = parse_module(text, former=FormerModule(module, {"k": lines}))
        assert loaded in set(back.function("k").instructions())
        assert module_text(back) == module_text(parse_module(text))


@pytest.mark.parametrize("variant", VARIANTS, ids=range(len(VARIANTS)))
def test_a_kernel_is_as_if_all_of_it_were_read_anew(variant: Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = lower(SOURCE)
    kept = run_pipeline(lowered, variant).kernel
    monkeypatch.setattr(locations, "FormerModule", lambda _module, _lines: FormerModule())
    anew = run_pipeline(lowered, variant).kernel
    assert kept.added_arguments == anew.added_arguments
    assert [i.origin for i in kept.instructions()] == [i.origin for i in anew.instructions()]
    assert module_text(kept.graph) == module_text(anew.graph)


def test_what_goes_by_a_name_that_something_else_had_is_what_has_it_now() -> None:
    """The coarsened kernels of one source have most names in common, of other values, blocks and lines."""
    lowered = lower(SOURCE)
    texts = [module_text(run_pipeline(lowered, variant).kernel.graph) for variant in VARIANTS]
    for before, now in permutations([module_text(lowered.graph), *texts], 2):
        module, lines = given(before)
        back = parse_module(now, former=FormerModule(module, {"k": lines}))
        check_function(back.function("k"))
        assert module_text(back) == module_text(parse_module(now))
