"""Kernels to which it makes no difference in which work-groups their work-items are, and those that may care."""

from __future__ import annotations

import pytest

from coarsen.api import coarsen

ATOMIC = "atomic_fetch_add_explicit((volatile global atomic_int *)out, 1, memory_order_relaxed, memory_scope_{});"


def groups_matter(body: str, attributes: str = "") -> bool:
    source = f"kernel {attributes} void looks(global int *out, int which)\n{{\n{body}\n}}"
    return coarsen(source, factor=1, options="-cl-std=CL2.0").groups_matter


@pytest.mark.parametrize(
    "body",
    [
        "out[get_global_id(0)] = sin((float)which) + get_global_size(1) + get_work_dim();",
        "out[get_global_linear_id()] = get_global_offset(0) + get_global_id(which);",
        "atomic_add(out, 1); atomic_fetch_add((volatile global atomic_int *)out, 1);",
        ATOMIC.format("device"),
        "out[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE);",
        "barrier(CLK_GLOBAL_MEM_FENCE); out[get_global_id(0)] = 1;",
        "if (which) { barrier(CLK_GLOBAL_MEM_FENCE); out[get_global_id(0)] = 1; } else out[0] = 2;",
        "out[get_global_id(0)] = 1; work_group_barrier(CLK_GLOBAL_MEM_FENCE); which += 1;",
        "int seen = out[0]; barrier(CLK_GLOBAL_MEM_FENCE); seen += out[1]; barrier(CLK_GLOBAL_MEM_FENCE);",
        'int part; out[0] = frexp((float)which, &part); vstore2((int2)(part), 1, out); printf("%d", part);',
    ],
)
def test_groups_do_not_matter(body: str) -> None:
    assert not groups_matter(body)


@pytest.mark.parametrize(
    "body",
    [
        "out[get_global_id(0)] = get_local_id(1);",
        "out[get_global_id(0)] = get_group_id(2);",
        "out[get_global_id(0)] = get_local_size(which);",
        "out[get_global_id(0)] = get_enqueued_local_size(0) + get_num_groups(0);",
        "out[get_global_id(0)] = get_local_linear_id();",
        "out[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE); out[0] += out[1];",
        "int seen = out[0]; barrier(CLK_GLOBAL_MEM_FENCE); out[get_global_id(0)] = seen;",
        "out[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE); out[get_global_id(0) + 1] = 2;",
        "for (int k = 0; k < which; ++k) { out[k] += 1; barrier(CLK_GLOBAL_MEM_FENCE); }",
        "out[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE); atomic_add(&out[9], 1);",
        "atomic_add(&out[9], 1); barrier(CLK_GLOBAL_MEM_FENCE); out[0] = out[1];",
        "volatile global int *own = out; *own = 1; barrier(CLK_GLOBAL_MEM_FENCE); which = own[1];",
        "out[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE); *(volatile global int *)(out + 1) = 3;",
        'printf("1"); barrier(CLK_GLOBAL_MEM_FENCE); printf("2");',
        "out[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE); mem_fence(CLK_GLOBAL_MEM_FENCE); out[0] = 2;",
        "local int kept; kept = which; out[get_global_id(0)] = kept;",
        "mem_fence(CLK_GLOBAL_MEM_FENCE); out[get_global_id(0)] = 1;",
        ATOMIC.format("work_group"),
    ],
)
def test_groups_may_matter(body: str) -> None:
    assert groups_matter(body)


def test_a_kernel_that_demands_its_local_size_cares() -> None:
    assert groups_matter("out[get_global_id(0)] = 1;", "__attribute__((reqd_work_group_size(4, 1, 1)))")


def test_an_argument_that_is_restrict_may_be_read_by_another_work_item() -> None:
    """What is promised holds for one work-item, between two barriers."""
    source = (
        "kernel void passes(global int *restrict out, global int *restrict in)\n{ out[get_global_id(0)] = 1;"
        "barrier(CLK_GLOBAL_MEM_FENCE); int seen = in[0]; if (seen) out[1] = seen; }"
    )
    assert coarsen(source, factor=1).groups_matter
