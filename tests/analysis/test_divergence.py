"""Divergence: what differs between replicas, by source variable."""

from __future__ import annotations

import pytest

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import divergent_regions
from coarsen.frontend.lower import lower
from coarsen.ir.graph.printer import instruction_text


def divergent_stores(
    body: str, arguments: str = "global int *out, global const int *in, int n", dimension: int = 0
) -> list[bool]:
    """For each store of a kernel to `out`, in order, whether the stored value differs between the replicas."""
    kernel = lower(f"kernel void k({arguments}) {{ {body} }}")
    divergence = Divergence(kernel, dimension)
    return [
        instruction.operands[0].text in divergence.values
        for instruction in kernel.instructions()
        if instruction.opcode == "store" and "addrspace(1)" in instruction_text(instruction)
    ]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("get_global_id(0)", True),
        ("get_local_id(0)", True),
        ("get_global_id(1)", False),
        ("get_group_id(0)", False),
        ("get_local_size(0) + get_num_groups(0) + get_global_size(0) + get_global_offset(0)", False),
        ("get_global_id(n)", True),
        ("in[get_global_id(0)]", True),
        ("in[get_global_id(1)]", False),
        ("in[n] * 3 + n", False),
        ("atomic_inc(out + 5)", True),
        ("*(volatile global const int *)(in + n)", True),
        ("convert_int(sqrt((float)n))", False),
        ("vload4(n, in).x", False),
        ("vload4(get_local_id(0), in).x", True),
    ],
)
def test_sources_and_data(expression: str, expected: bool) -> None:
    assert divergent_stores(f"out[7] = {expression};")[-1] is expected


def test_along_another_dimension() -> None:
    assert divergent_stores("out[7] = get_global_id(1); out[8] = get_global_id(0);", dimension=1) == [True, False]


def test_join_of_a_divergent_branch() -> None:
    body = "int a = n; int b = n; if (in[get_global_id(0)]) { out[1] = n; a = n + 1; } out[2] = a; out[3] = b;"
    assert divergent_stores(body) == [False, True, False]


def test_join_of_a_uniform_branch() -> None:
    assert divergent_stores("int a = n; if (in[n]) { out[1] = n; a = n + 1; } out[2] = a;") == [False, False]


def test_values_leave_a_loop_in_different_iterations() -> None:
    body = "int i = 0; while (i < in[get_global_id(0)]) { out[1] = i; i++; } out[2] = i;"
    assert divergent_stores(body) == [False, True]


def test_a_uniform_loop_keeps_its_counter_uniform() -> None:
    body = "int sum = 0, i = 0; for (; i < n; i++) { sum += in[get_global_id(0) + i]; } out[1] = i; out[2] = sum;"
    assert divergent_stores(body) == [False, True]


def test_a_loop_left_by_divergent_break_and_uniform_count() -> None:
    body = "int i; for (i = 0; i < n; i++) { if (in[get_global_id(0) + i] == 3) break; } out[1] = i;"
    assert divergent_stores(body) == [True]


def test_the_same_constant_on_all_ways_is_uniform() -> None:
    body = "int a; if (in[get_global_id(0)]) { out[1] = n; a = 4; } else { out[2] = n; a = 4; } out[3] = a;"
    assert divergent_stores(body) == [False, False, False]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int t[4]; t[n & 3] = n; t[1] = n; out[7] = t[n & 1];", False),
        ("int t[4]; t[n & 3] = get_local_id(0); t[1] = n; out[7] = t[n & 1];", True),
        ("int t[4]; t[n & 3] = n; t[get_local_id(0) & 3] = n; out[7] = t[n & 1];", True),
        ("int t[4]; t[n & 3] = n; if (in[get_global_id(0)]) { t[n & 1] = 5; } out[7] = t[n & 1];", True),
        ("int t[4]; t[n & 3] = n; if (in[n]) { t[n & 1] = 5; } out[7] = t[n & 1];", False),
        ("int t[4]; t[n & 3] = n; t[1] = n; out[7] = t[get_local_id(0) & 3];", True),
        ("float t; float f = fract((float)n, &t); out[7] = (int)t;", False),
        ("float t; float f = fract((float)get_local_id(0), &t); out[7] = (int)t;", True),
    ],
)
def test_private_memory(body: str, expected: bool) -> None:
    assert divergent_stores(body)[-1] is expected


def test_a_barrier_makes_its_conditions_uniform() -> None:
    body = "int a = 0; if (get_global_id(0) / 64 > n) { barrier(CLK_LOCAL_MEM_FENCE); a = 1; } out[1] = a;"
    kernel = lower(f"kernel void k(global int *out, int n) {{ {body} }}")
    divergence = Divergence(kernel, 0)
    assert not divergence.branches
    assert len(divergence.assumed_uniform) == 1
    assert divergent_stores(body) == [False]


def test_a_condition_far_above_a_barrier() -> None:
    body = """int a = n; if (get_local_id(0) < 4) { for (int i = 0; i < n; i++) { a += in[i];
              barrier(CLK_LOCAL_MEM_FENCE); } } out[1] = a;"""
    assert divergent_stores(body) == [False]


def test_group_wide_calls_are_not_divergent() -> None:
    kernel = lower(
        "kernel void k(global int *out, local int *t) { event_t e = async_work_group_copy(t, out, 8, 0);"
        " wait_group_events(1, &e); out[get_global_id(0)] = t[0]; }"
    )
    divergence = Divergence(kernel, 0)
    calls = [
        i for i in kernel.instructions() if i.opcode == "call" and "group" in i.callee and "id" not in i.callee
    ]
    assert len(calls) == 2
    assert not any(divergence.is_divergent(call) for call in calls)


def test_memory_stored_to_where_a_region_had_to_grow() -> None:
    """A block that is entered from the side is copied with the ways to it, so that it counts once per replica."""
    side = "n ? (c[n & 3] += n, true) : in[get_global_id(0)] > 3"
    body = f"int c[4] = {{0, 1, 2, 3}}; int s = n; if ({side}) s = 1; out[1] = c[n] + s;"
    kernel = lower(f"kernel void k(global int *out, global const int *in, int n) {{ {body} }}")
    divergence = Divergence(kernel, 0)
    (counts,) = (instruction.name for instruction in kernel.instructions() if instruction.opcode == "alloca")
    assert counts not in divergence.values
    divergent_regions(divergence)
    assert counts in divergence.values
