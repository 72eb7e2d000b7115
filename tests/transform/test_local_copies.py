"""What merging whole work-groups does to a kernel's local memory, arguments and demands, and what it refuses."""

from __future__ import annotations

import pytest

from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.kernel import Kernel
from coarsen.variant.coarsening import Coarsening, Level
from tests.coarsened_kernel import coarsen_kernel
from tests.transform.cases import KERNELS

TWO_TILES = """kernel void k(local float *tile, global float *data, local int *flags) {
    local float own[8];
    own[get_local_id(0)] = data[get_global_id(0)];
    tile[get_local_id(0)] = data[get_global_id(0)];
    flags[get_local_id(0)] = get_group_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = tile[0] + own[1] + flags[2];
}"""


def merged(source: str, *coarsenings: Coarsening) -> Kernel:
    return coarsen_kernel(lower(source), coarsenings)


def groups(factor: int, dimension: int = 0) -> Coarsening:
    return Coarsening(factor, dimension, level=Level.GROUP)


def like(*arguments: int) -> tuple[AddedArgument, ...]:
    return tuple(AddedArgument("local-memory", like=argument) for argument in arguments)


def names_of_arguments(kernel: Kernel) -> list[str]:
    return [argument.name for argument in kernel.arguments]


def test_each_replica_has_its_own() -> None:
    kernel = merged(TWO_TILES, groups(3))
    assert names_of_arguments(kernel) == ["tile", "data", "flags", "tile_1", "tile_2", "flags_1", "flags_2"]
    assert kernel.added_arguments == like(0, 0, 2, 2)
    assert [argument.type_name for argument in kernel.arguments[3:]] == ["float*", "float*", "int*", "int*"]
    assert sorted(kernel.globals) == ["k.own", "k.own.1", "k.own.2"]


def test_copies_of_copies_are_like_the_original_argument() -> None:
    source = (
        "kernel void k(global int *a, local int *t) { t[0] = get_group_id(0) + get_group_id(1); a[0] = t[0]; }"
    )
    kernel = merged(source, groups(2, 0), groups(2, 1))
    assert kernel.added_arguments == like(1, 1, 1)
    assert len(set(names_of_arguments(kernel))) == 5


def test_no_argument_is_added_for_work_items_merged_afterwards() -> None:
    kernel = merged(TWO_TILES, groups(2), Coarsening(2))
    assert kernel.added_arguments == like(0, 2)


def test_names_that_are_taken_are_left_alone() -> None:
    source = "kernel void k(global int *a, local int *t, local int *t_1) { t[0] = get_group_id(0); a[0] = t[0]; }"
    kernel = merged(source, groups(2))
    assert names_of_arguments(kernel)[:3] == ["a", "t", "t_1"]
    assert len(set(names_of_arguments(kernel))) == 4


def test_a_demanded_work_group_size_stays() -> None:
    source = (
        "kernel __attribute__((reqd_work_group_size(6, 5, 1))) void k(global int *a) { a[get_global_id(0)] = 1; }"
    )
    assert merged(source, groups(4)).required_work_group_size == (6, 5, 1)
    assert merged(source, groups(4), Coarsening(2)).required_work_group_size == (3, 5, 1)


@pytest.mark.parametrize(
    ("source", "code", "accepted"),
    [
        (
            "kernel void k(global int *a) { if (get_group_id(0) == 3) while (1) a[0]++; a[1] = 1; }",
            "endless-loop",
            "kernel void k(global int *a) { if (get_group_id(0) == 3) while (a[0] < 9) a[0]++; }",
        ),
        (
            "kernel void k(global int *a) { a[get_group_id(0)] = work_group_reduce_add(a[get_global_id(0)]); }",
            "collective",
            "kernel void k(global int *a) { a[get_group_id(0)] = a[get_global_id(0)]; }",
        ),
    ],
)
def test_refusals_and_their_twins(source: str, code: str, accepted: str) -> None:
    with pytest.raises(RefusalError) as refused:
        coarsen_kernel(lower(source, None, "-cl-std=CL2.0"), [groups(2)])
    assert refused.value.code == code
    coarsen_kernel(lower(accepted, None, "-cl-std=CL2.0"), [groups(2)])


def test_a_barrier_inside_of_what_is_copied_is_refused_for_work_items_alone() -> None:
    kernel = lower((KERNELS / "group_side_entry.cl").read_text())
    with pytest.raises(RefusalError) as refused:
        coarsen_kernel(kernel, [Coarsening(2)])
    assert refused.value.code == "barrier-in-divergent-region"
    found = [i for i in coarsen_kernel(kernel, [groups(2)]).instructions() if "barrier" in i.callee]
    assert len(found) == 4  # one in each copy, and one after each (`RejoinBarriers`)
