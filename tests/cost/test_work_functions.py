"""The work of small kernels as functions of the sizes of their launch."""

from __future__ import annotations

import pytest

from coarsen.analysis.expressions import expression_text
from coarsen.cost.work_counts import InstructionClass, LaunchSizes
from coarsen.cost.work_functions import ASSUMED_STRIDE, WorkFunctions
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.variant.coarsening import Coarsening
from tests.coarsened_kernel import coarsen_kernel
from tests.counted_work import work_functions

LAUNCH = LaunchSizes((64, 1, 1), (16, 1, 1))
ROWS = """
kernel void rows(global const float *matrix, global float *sums, int width, int height)
{
    int row = get_global_id(0);
    if (row >= height)
        return;
    float sum = 0.0f;
    for (int column = 0; column < width; ++column)
        sum += matrix[row * width + column];
    sums[row] = sum;
}
"""
TREE = """
kernel void tree(global const float *values, global float *sums, local float *part)
{
    int item = get_local_id(0);
    part[item] = values[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int active = get_local_size(0) / 2; active > 0; active >>= 1) {
        if (item < active)
            part[item] += part[item + active];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        sums[get_group_id(0)] = part[0];
}
"""


def functions(source: str) -> WorkFunctions:
    """The work of a source's only kernel."""
    return work_functions(lower(source))


def times(work: WorkFunctions, launch: LaunchSizes, **arguments: int) -> list[float]:
    """How often each access is made by a work-item."""
    return [access.count for access in work.at(launch, arguments).accesses]


def test_work_grows_with_the_arguments() -> None:
    work = functions(ROWS)
    assert work.arguments == ("width", "height")
    assert times(work, LAUNCH, width=100, height=64) == [100, 1]
    assert times(work, LAUNCH, width=200, height=64) == [200, 1]
    assert times(work, LAUNCH, width=100, height=48) == [75, 0.75]
    assert times(work, LAUNCH, width=100, height=1000) == [100, 1]
    additions = expression_text(work.instructions[InstructionClass.FLOAT])
    assert additions == "width·min(global_size(0), height) / global_size(0)"
    assert work.at(LAUNCH, {"width": 10, "height": 64}).unknown == ()


def test_strides_and_footprints_are_numbers_at_a_launch() -> None:
    load, store = functions(ROWS).at(LAUNCH, {"width": 100, "height": 64}).accesses
    assert (load.lane_stride, load.footprint, load.bytes, load.store) == (400, 4 * 100 * 64, 4, False)
    assert (store.lane_stride, store.footprint, store.bytes, store.store) == (4, 4 * 64, 4, True)


def test_missing_arguments_are_assumed_and_named() -> None:
    counts = functions(ROWS).at(LAUNCH)
    load, store = counts.accesses
    assert (load.count, store.count) == (8, 1)
    assert (load.lane_stride, load.footprint) == (ASSUMED_STRIDE, None)
    assert [words.split(",")[0] for words in counts.unknown] == ["the argument width", "the argument height"]


@pytest.mark.parametrize("local", [1, 2, 16, 64])
def test_a_tree_in_local_memory(local: int) -> None:
    counts = functions(TREE).at(LaunchSizes((64, 1, 1), (local, 1, 1)))
    rounds = [local >> k for k in range(1, 10) if local >> k]
    assert counts.barriers == 1 + len(rounds)
    local_loads = [access for access in counts.accesses if access.is_local and not access.store]
    assert sum(access.count for access in local_loads) * local == pytest.approx(2 * sum(rounds) + 1)
    assert counts.unknown == ()


def test_what_data_decide_is_eight_trips_and_named() -> None:
    body = "for (int k = 0; k < lengths[get_global_id(0)]; ++k) { if (data[k] > 0.5f) data[k] = 0.0f; }"
    work = functions(f"kernel void k(global float *data, global const int *lengths)\n{{ {body} }}\n")
    counts = work.at(LAUNCH)
    assert [access.count for access in counts.accesses] == [9, 8, 8]
    assert [words.split(",")[-1] for words in counts.unknown] == [" taken for 8 times", " taken for both"]


def test_an_address_that_was_loaded_depends_on_a_load() -> None:
    work = functions(
        "kernel void k(global float *data, global const int *map) { data[map[get_global_id(0)]] = 1; }"
    )
    load, store = work.at(LAUNCH).accesses
    assert (load.dependent_on_load, store.dependent_on_load) == (False, True)
    assert store.lane_stride is None


def test_atomics_and_local_memory() -> None:
    work = functions(
        "kernel void k(global int *bins, int n) { local int own[32]; own[get_local_id(0)] = 0; "
        "barrier(CLK_LOCAL_MEM_FENCE); "
        "for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&own[i & 31]); "
        "barrier(CLK_LOCAL_MEM_FENCE); bins[get_global_id(0)] = own[get_local_id(0)]; }"
    )
    counts = work.at(LAUNCH, {"n": 640})
    assert (counts.atomics, counts.barriers, counts.local_bytes) == (10, 2, 128)


def test_a_coarsened_kernel_is_counted_as_it_is() -> None:
    source = """
    kernel void scale(global float *values, int rounds)
    {
        float value = values[get_global_id(0)];
        for (int k = 0; k < rounds; ++k)
            value = value * 0.5f + 1.0f;
        values[get_global_id(0)] = value;
    }
    """
    kernel = lower(source)
    original = work_functions(kernel).at(LAUNCH, {"rounds": 100})
    coarsened = work_functions(coarsen_kernel(kernel, [Coarsening(4, 0, 1)]))
    counts = coarsened.at(LaunchSizes((16, 1, 1), (4, 1, 1)), {"rounds": 100})
    assert counts.instructions[InstructionClass.FLOAT] == 4 * original.instructions[InstructionClass.FLOAT]
    assert counts.instructions[InstructionClass.CONTROL] == original.instructions[InstructionClass.CONTROL]
    assert [access.lane_stride for access in counts.accesses] == [16] * 8
    assert {access.replica_stride for access in counts.accesses} == {4}


def test_sizes_that_give_no_number_are_refused() -> None:
    work = functions("kernel void k(global int *data, int n) { for (int i = 0; i < 64; i += n) data[i] = n; }")
    with pytest.raises(InvalidInputError, match=r"^these sizes give no finite number of work: n$"):
        work.at(LAUNCH, {"n": 0})


def test_classes_of_instructions_and_strides_in_local_memory() -> None:
    work = functions(
        "kernel void k(global double *values) { local double tile[64]; int x = get_local_id(0); "
        "tile[x] = values[get_global_id(0)] * 2.0; barrier(CLK_LOCAL_MEM_FENCE); "
        "values[get_global_id(0)] = sqrt(tile[63 - x]); }"
    )
    counts = work.at(LAUNCH)
    assert counts.instructions[InstructionClass.DOUBLE] == counts.instructions[InstructionClass.MATH] == 1
    assert counts.instructions[InstructionClass.LOCAL_ACCESS] == 2
    assert counts.instructions[InstructionClass.GLOBAL_ACCESS] == 2
    assert sorted(access.lane_stride or 0 for access in counts.accesses if access.is_local) == [-8, 8]
    assert counts.chain_accesses == 2


def test_groups_of_a_launch() -> None:
    launch = LaunchSizes((100, 3, 1), (16, 2, 1))
    assert (launch.items, launch.group_items, launch.groups) == (300, 32, 14)
