"""Divergence where whole work-groups are merged: what differs between groups, and whose local memory does."""

from __future__ import annotations

import pytest

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import divergent_regions
from coarsen.frontend.lower import lower
from coarsen.ir.graph.printer import instruction_text
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.builtins import is_barrier
from coarsen.ir.opencl.queries import builtin_name

ARGUMENTS = "global int *out, global const int *in, int n, local int *tile"


def analysed(body: str, dimension: int = 0) -> tuple[Kernel, Divergence]:
    kernel = lower(f"kernel void k({ARGUMENTS}) {{ {body} }}")
    return kernel, Divergence(kernel, dimension, merges_groups=True)


def last_store_diverges(body: str, dimension: int = 0) -> bool:
    """Whether what is stored last to `out` differs between the replicas."""
    kernel, divergence = analysed(body, dimension)
    stores = [i for i in kernel.instructions() if i.opcode == "store" and "addrspace(1)" in instruction_text(i)]
    return stores[-1].operands[0].text in divergence.values


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("get_global_id(0)", True),
        ("get_group_id(0)", True),
        ("get_local_id(0)", False),
        ("get_group_id(1)", False),
        ("get_global_id(1)", False),
        ("get_group_id(n)", True),
        ("get_local_id(n)", False),
        ("get_num_groups(0) + get_global_size(0) + get_local_size(0) + get_global_offset(0)", False),
        ("in[get_local_id(0)]", False),
        ("in[get_group_id(0)]", True),
        ("atomic_inc(out + 5)", True),
    ],
)
def test_sources_and_data(expression: str, expected: bool) -> None:
    assert last_store_diverges(f"out[7] = {expression};") is expected


def test_along_another_dimension() -> None:
    assert last_store_diverges("out[7] = get_group_id(1);", dimension=1)
    assert not last_store_diverges("out[7] = get_group_id(0);", dimension=1)


@pytest.mark.parametrize(
    ("body", "own"),
    [
        ("tile[get_local_id(0)] = in[get_local_id(0)]; out[7] = tile[n];", ()),
        ("tile[get_local_id(0)] = in[get_global_id(0)]; out[7] = tile[n];", ("tile",)),
        ("tile[0] = n; if (get_group_id(0) == 3) tile[1] = n; out[7] = tile[n];", ("tile",)),
        ("if (get_local_id(0) == 3) tile[1] = n; out[7] = tile[n];", ()),
        ("local int t[8]; t[3] = get_group_id(0); tile[0] = n; out[7] = t[3] + tile[0];", ("@k.t",)),
        ("local int t[8]; t[3] = n; atomic_inc(&t[4]); out[7] = t[3];", ("@k.t",)),
        ("local int t[8]; local int *p = in[get_group_id(0)] ? t : tile; *p = n; out[7] = *p;", ("tile", "@k.t")),
        ("out[7] = tile[n];", ()),
        ("local int *kept[2]; kept[n & 1] = tile; *kept[0] = n; out[7] = *kept[1];", ("tile",)),
        ("volatile local int *flag = tile; *flag = n; out[7] = *flag;", ("tile",)),
        (
            "int step = n; while (step < in[get_group_id(0)]) { tile[1] = step; step++; } out[7] = tile[1];",
            ("tile",),
        ),
    ],
)
def test_local_memory_of_their_own(body: str, own: tuple[str, ...]) -> None:
    kernel, divergence = analysed(body)
    assert divergence.own_local_memory == own
    loads = [i for i in kernel.instructions() if i.opcode == "load" and "addrspace(3)" in instruction_text(i)]
    assert any(divergence.is_divergent(load) for load in loads) is bool(own)


def test_work_items_of_a_group_share_all_local_memory() -> None:
    kernel = lower(f"kernel void k({ARGUMENTS}) {{ tile[get_local_id(0)] = get_global_id(0); out[7] = tile[n]; }}")
    assert Divergence(kernel, 0).own_local_memory == ()


def test_a_barrier_makes_no_condition_uniform() -> None:
    body = "int a = 0; if (get_group_id(0) > n) { barrier(CLK_LOCAL_MEM_FENCE); a = 1; } out[1] = a;"
    kernel, divergence = analysed(body)
    assert len(divergence.branches) == 1
    assert not divergence.assumed_uniform
    assert divergence.branches <= divergence.group_uniform_branches
    (region,) = divergent_regions(divergence)
    assert any(is_barrier(i) for name in region.blocks for i in kernel.block[name].instructions)


def test_a_barrier_outside_of_divergent_control_stands_once() -> None:
    kernel, divergence = analysed("tile[0] = get_group_id(0); barrier(CLK_LOCAL_MEM_FENCE); out[1] = tile[0];")
    (barrier,) = (i for i in kernel.instructions() if is_barrier(i))
    assert not divergence.is_divergent(barrier)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("in, 8, 0); wait_group_events(1, &e);", False),
        ("in + get_group_id(0), 8, 0); wait_group_events(1, &e);", True),
        # One copy differs: all do, as they may be waited for together.
        ("in, 8, 0); wait_group_events(1, &e); e = async_work_group_copy(out + get_group_id(0), t, 8, 0);", True),
        ("in, 8, 0); if (get_group_id(0) == n) wait_group_events(1, &e); else wait_group_events(1, &e);", True),
    ],
)
def test_copies_by_the_whole_group(source: str, expected: bool) -> None:
    kernel, divergence = analysed(f"local int t[8]; event_t e = async_work_group_copy(t, {source} out[n] = t[0];")
    names = {"async_work_group_copy", "wait_group_events"}
    calls = [i for i in kernel.instructions() if i.opcode == "call" and builtin_name(i.callee) in names]
    assert {divergence.is_divergent(call) for call in calls} == {expected}
    assert divergence.own_local_memory == (("@k.t",) if expected else ())
