"""What can't be laid out otherwise is refused, with the code and the place; and what is right is not."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.lower import lower
from coarsen.ir.added_arguments import AddedArgument
from coarsen.pipeline import LaidOutKernel, laid_out
from coarsen.variant.data_layout import DEEP_SOA, SOA, ArrayLayout, Order, RecordType
from coarsen.variant.data_plan import ArrayPlan

BODY = "typedef struct { float x; uchar tag; double mass; short kind; } Body;\n"
UNION = "typedef union { float x; struct { char a; int b; } both; } Body;\n"
ARRAY = "typedef struct { int ids[3]; float x; } Body;\n"
SHORTS = "typedef struct { ushort low, high; } Body;\n"
POINTED = "struct Next { int x; }; typedef struct { global struct Next *next; float x; } Body;\n"
TWICE = """int f(int i)
{
    struct Body { int a; char t; } all[4];
    for (int j = 0; j < 4; ++j) all[j].t = i;
    return all[i & 3].t;
}
struct Body { int a, b; }; typedef struct Body Body;
"""
ID = "int i = get_global_id(0);"


@dataclass(frozen=True)
class Refused:
    """A kernel `k(global Body *all, global int *other)` whose array `all` can't lie as a structure of arrays."""

    name: str
    code: str
    body: str
    types: str = BODY


REFUSED = (
    Refused("phi", "layout-pointer-escapes", "for (global Body *p = all + i; p->x > 0; ++p) p->x -= 1;"),
    Refused("select", "layout-pointer-escapes", "global Body *p = all + i; if (i % 2) p = all; p->x = 1;"),
    Refused("compared", "layout-pointer-escapes", "if (all + i < all + other[0]) all[i].x = 1;"),
    Refused("as_number", "layout-pointer-escapes", "all[i].x = 1; other[i] = (int)(size_t)(all + i);"),
    Refused(
        "passed_on",
        "layout-pointer-escapes",
        "all[i].x = 1; prefetch((global int *)&all[i], 1);",
    ),
    Refused("bytes", "layout-mixed-types", "all[i].x = 1; ((global uchar *)all)[i] = 3;"),
    Refused("words", "layout-mixed-types", "all[i].x = 1; ((global float *)all)[i * 6] = 3;"),
    Refused("vector", "layout-mixed-types", "all[i].x = 1; vstore2((float2)(1, 2), 3 * i, (global float *)all);"),
    Refused("long_words", "layout-mixed-types", "all[i].x = 1; *(global float4 *)&all[i] = (float4)(i);"),
    Refused("past_the_end", "layout-mixed-types", "*(global double *)(&all[i].kind + 2) = 2;"),
    Refused("padding", "layout-mixed-types", "*(&all[i].tag + 1) = 2;"),
    Refused("read_padding", "layout-mixed-types", "((global uchar *)other)[i] = *(&all[i].tag + 1);"),
    Refused("filled_padding", "layout-mixed-types", "*(&all[i].tag + 1) = ((global uchar *)other)[i];"),
    Refused("other_padding", "layout-mixed-types", "*(&all[i].tag + 1) = all[i].tag;"),
    Refused("never_named", "layout-mixed-types", "((global float *)all)[0] = 1;"),
    Refused(
        "union_with_holes",
        "layout-mixed-types",
        "all[i].u.b = 1;",
        "typedef struct { union { struct { short a; char c[4]; } s; int b; } u; } Body;\n",
    ),
    Refused("union", "layout-mixed-types", "all[i].x = 1;", UNION),
    Refused("one_of_two_by_that_name", "layout-mixed-types", "other[i] = f(i); all[i].b = 1000;", TWICE),
    Refused("pointers", "layout-mixed-types", "all[i].x = 1;", POINTED),
    Refused(
        "array_of_another_length", "layout-mixed-types", "all[0].x = 2; ((global int (*)[5])all)[0][i] = 1;", ARRAY
    ),
    Refused("decayed_array", "layout-mixed-types", "global int *ids = all[i].ids; ids[other[i]] = 1;", ARRAY),
    Refused("steps_out", "layout-mixed-types", "global int *ids = all[i].ids + (i & 1); ids[i & 3] = 1;", ARRAY),
    Refused("steps_back", "layout-mixed-types", "global int *ids = all[i].ids + (i & 1); ids[-1] = 1;", ARRAY),
    Refused("signed_remainder", "layout-mixed-types", "global int *ids = all[i].ids; ids[i % 3] = 1;", ARRAY),
    Refused("may_wrap", "layout-mixed-types", "global int *ids = all[i].ids; ids[i * 2 & -2] = 1;", ARRAY),
    Refused(
        "after_the_loop",
        "layout-mixed-types",
        "global int *ids = all[i].ids; int j = 0; for (; j < 3; ++j) other[j] = i; ids[j] = 1;",
        ARRAY,
    ),
    Refused(
        "open_loop",
        "layout-mixed-types",
        "global int *p = all[i].ids; for (int j = 0; j < *other; ++j) p[j] = 1;",
        ARRAY,
    ),
    Refused("volatile", "layout-mixed-types", "all[0].low = 1; *(global volatile uint *)&all[i] = 1;", SHORTS),
    Refused("two_fields", "layout-atomic-width", "all[0].low = 1; atomic_inc((global int *)&all[i]);", SHORTS),
    Refused("part_of_8", "layout-atomic-width", "atomic_inc((global int *)&all[i].tag);"),
)


def laid(body: str, plan: ArrayPlan, types: str = BODY) -> LaidOutKernel:
    source = f"{types}kernel void k(global Body *all, global int *other)\n{{\n{ID}\n{body}\n}}\n"
    return laid_out(lower(source, "k"), [plan])


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.name)
def test_refused(refused: Refused) -> None:
    with pytest.raises(RefusalError) as caught:
        laid(refused.body, ArrayPlan("all", SOA, shape=(100,)), refused.types)
    assert caught.value.code == refused.code
    is_of_type = refused.name in (
        "never_named",
        "union",
        "union_with_holes",
        "pointers",
        "one_of_two_by_that_name",
    )
    assert (caught.value.position is None) == is_of_type
    if caught.value.position is not None:
        assert caught.value.position.line == len(refused.types.splitlines()) + 4


@pytest.mark.parametrize(
    ("plan", "dimensions"),
    [
        (ArrayPlan("all", SOA), (0,)),
        (ArrayPlan("all", SOA, Order((1, 0))), (0, 1)),
        (ArrayPlan("all", order=Order((2, 0, 1))), (0, 1, 2)),
        (ArrayPlan("all", ArrayLayout.parse("aosoa:8")), ()),
        (ArrayPlan("all", SOA, shape=(5,)), ()),
    ],
)
def test_extents_that_are_not_known_are_arguments(plan: ArrayPlan, dimensions: tuple[int, ...]) -> None:
    kernel = laid("all[i].x = 1;", plan).kernel
    assert kernel.added_arguments == tuple(AddedArgument("extent", dimension, 0) for dimension in dimensions)
    assert len(kernel.arguments) == 2 + len(dimensions)


def test_added_arguments_have_names_of_their_own() -> None:
    source = f"{BODY}kernel void k(global Body *all, global int *all_count) {{ {ID} all[i].mass = all_count[i]; }}"
    kernel = laid_out(lower(source, "k"), [ArrayPlan("all", SOA)]).kernel
    assert [each.name for each in kernel.arguments] == ["all", "all_count", "all_count_"]


def test_the_record_of_the_host_must_be_the_kernels() -> None:
    with pytest.raises(InvalidInputError, match="'24: 4@0 1@4 8@8 2@16' to the kernel, '24: 4@0 8@8' to the host"):
        laid("all[i].x = 1;", ArrayPlan("all", SOA, shape=(5,), record=RecordType.parse("24: 4@0 8@8")))


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (ArrayPlan("al", SOA), "has no argument al \\(did you mean all\\?\\)"),
        (ArrayPlan("all", SOA, shape=(0,)), "can't have the shape 0"),
        (ArrayPlan("all", order=Order((1, 0)), shape=(5,)), "the order 1,0 does not fit the shape 5"),
    ],
)
def test_plans_that_do_not_fit(plan: ArrayPlan, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        laid("all[i].x = 1;", plan)


def test_an_array_that_is_never_accessed_may_lie_in_any_way() -> None:
    source = f"{BODY}kernel void k(global Body *all, global int *other) {{ other[0] = 1; }}"
    record = RecordType.parse("24: 4@0 1@4 8@8 2@16")
    found = laid_out(lower(source, "k"), [ArrayPlan("all", SOA, record=record)])
    assert found.arrays[0].arrangement.record == record
    with pytest.raises(InvalidInputError, match="the kernel never accesses all, so there is nothing to lay out"):
        laid_out(lower(source, "k"), [ArrayPlan("all", SOA)])


def test_an_argument_must_be_an_array() -> None:
    with pytest.raises(InvalidInputError, match="n is no array in global or constant memory"):
        laid_out(lower("kernel void k(global int *all, int n) { all[n] = 1; }", "k"), [ArrayPlan("n", SOA)])


def test_indices_within_records_are_assumed_to_stay_there() -> None:
    found = laid("all[i].ids[other[i]] = 2;", ArrayPlan("all", SOA, shape=(7,)), ARRAY)
    assert found.assumptions == ("indices into arrays inside of the elements of all stay within these arrays",)


def test_no_plan_leaves_the_kernel() -> None:
    kernel = lower("kernel void k(global int *all) { all[0] = 1; }", "k")
    assert laid_out(kernel, []).kernel is kernel


def test_one_field_lies_alike_in_all_layouts() -> None:
    found = laid("other[i] = all[i].tag;", ArrayPlan("other", SOA))
    assert found.arrays[0].sentence == "the buffer for other stays as it is: elements '4: 4@0'"


DEEP_REFUSED = {
    "two elements at once": "all[i].x = *(global float *)&all[i].ids[1]; *(global ulong *)&all[i].ids[i & 1] = 3;",
    "from the midst of one": "*(global ushort *)((global uchar *)&all[i].ids[i & 1] + 3) = 1;",
    "a vector": "vstore2((int2)(1, 2), 0, all[i].ids);",
}


@pytest.mark.parametrize("body", DEEP_REFUSED.values(), ids=DEEP_REFUSED.keys())
def test_accesses_that_reach_over_elements_of_an_array(body: str) -> None:
    source = f"{ARRAY}kernel void k(global Body *all, global int *other)\n{{ {ID}\n{body} }}"
    with pytest.raises(RefusalError) as caught:
        laid_out(lower(source, "k"), [ArrayPlan("all", DEEP_SOA)])
    assert caught.value.code == "layout-mixed-types"
    assert caught.value.position is not None and caught.value.position.line == 4


def test_a_deep_layout_has_an_end() -> None:
    source = """typedef struct { float all[200000000]; } Body;
    kernel void k(global Body *all) { all[1].all[get_global_id(0)] = 1; }"""
    with pytest.raises(RefusalError, match="have 200000000 fields, and 1024 are the most"):
        laid_out(lower(source, "k"), [ArrayPlan("all", DEEP_SOA)])


@pytest.mark.parametrize("text", ["deep-aos", "deep", "deep-aosoa", "deep-soa:4", "deep-deep-soa"])
def test_deep_layouts_that_are_none(text: str) -> None:
    with pytest.raises(InvalidInputError, match="a layout is aos, soa, aosoa:WIDTH, deep-soa or deep-aosoa:WIDTH"):
        ArrayLayout.parse(text)


def test_an_index_into_an_array_steps_over_all_elements() -> None:
    source = f"{ARRAY}kernel void k(global Body *all) {{ {ID} all[i].ids[i % 3] = 1; }}"
    made = laid_out(lower(source, "k"), [ArrayPlan("all", DEEP_SOA, shape=(100,))])
    assert str(made.arrays[0].arrangement.record) == "16: 4@0 4@4 4@8 4@12"
    assert made.assumptions == ("indices into arrays inside of the elements of all stay within these arrays",)
