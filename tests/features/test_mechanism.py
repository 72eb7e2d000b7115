"""The mechanism features of kernels that are small enough to be counted by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coarsen.cost.register_pressure import maximum_live_words
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.features import (
    FACTORS,
    MECHANISM_FEATURES,
    MechanismFeatures,
    feature_table,
    feature_tables,
    mechanism_table,
)
from coarsen.transform.coarsen import analyse
from tests.features.counted_kernels import GUARDED, NEIGHBOUR, lowered, lowered_body


def features(source: str, factor: int = 1, dimension: int = 0) -> MechanismFeatures:
    return mechanism_table(lowered(source), dimension, None, (factor,)).at(factor)


def features_of_body(body: str, factor: int = 1, dimension: int = 0) -> MechanismFeatures:
    return mechanism_table(lowered_body(body), dimension, None, (factor,)).at(factor)


def test_features_of_a_guard_are_those_counted_by_hand() -> None:
    # entry: 4, all divergent; the region: 12; ret
    found = features(GUARDED)
    assert found.divergent_guard_share == 12 / 17
    assert found.divergent_work_share == (12 + 4) / 17
    assert found.divergent_loop_share == found.guarded_loop_share == 0
    assert found.uniform_load_share == 1 / 2
    assert (found.coalesced_share, found.broadcast_share) == (2 / 3, 1 / 3)
    assert (found.strided_share, found.indirect_share, found.stride_magnitude) == (0, 0, 0)
    assert found.consecutive_replicas_share == 2 / 3
    # icmp, the fused multiply-add, sqrt; the addition of `shared` is fused with the product
    assert found.bytes_per_operation == 12 / 3
    assert found.log_operations == math.log1p(3)
    assert (found.log_loads, found.log_stores) == (math.log1p(2), math.log1p(1))
    assert (found.math_share, found.integer_share) == (1 / 3, 1 / 3)
    assert (found.mean_element_bytes, found.mean_vector_width) == (4, 1)
    assert (found.work_growth, found.load_growth, found.memory_growth) == (1, 1, 1)
    assert found.log_code_size == math.log1p(17)
    assert found.instruction_parallelism == pytest.approx((4 * 3 / 3 + 12 * 11 / 6) / 16)
    assert found.memory_parallelism == 3 / 2


def test_features_of_a_guard_after_coarsening() -> None:
    found = features(GUARDED, 4)
    # entry: id, offset, sub, mul, add, trunc, 3 additions, 4 icmp, br; 4 regions of 12; 3 branches between; ret
    total = 14 + 4 * 12 + 3 + 1
    assert found.work_growth == total / (4 * 17)
    assert found.divergent_guard_share == 4 * 12 / total
    assert (found.coalesced_share, found.strided_share, found.broadcast_share) == (0, 2 / 3, 1 / 3)
    assert found.stride_magnitude == pytest.approx(2 * 2 / 3)
    assert found.consecutive_replicas_share == 2 / 3
    assert (found.load_growth, found.memory_growth) == (1, 1)


def test_uniform_accesses_stand_once_and_local_memory_is_told_apart() -> None:
    found, before = features(NEIGHBOUR, 8), features(NEIGHBOUR)
    assert (before.uses_local_memory, before.log_local_bytes) == (1, 0)
    assert before.local_access_share == 2 / 4
    assert found.local_access_share == 16 / (8 + 8 + 8 + 1)
    assert found.log_barriers == before.log_barriers == math.log1p(1)
    assert found.load_growth == (1 + 8) / (8 * 2)
    assert found.memory_growth == (1 + 8) / (8 * 2)
    assert found.uniform_load_share == 1 / 9


def test_static_local_memory_and_private_arrays() -> None:
    found = features_of_body(
        """
        local float tile[8][3];
        float own[4];
        own[numbers[0]] = data[1];
        tile[get_local_id(0)][0] = own[numbers[1]];
        data[0] = tile[0][0];
        """
    )
    assert (found.uses_local_memory, found.log_local_bytes) == (1, math.log1p(96))
    assert found.private_access_share == 2 / 8
    assert found.local_access_share == 2 / 8


def test_loops_weigh_by_their_trips() -> None:
    known = features_of_body("for (int i = 0; i < 100; ++i) data[i] += data[i * i];")
    unknown = features_of_body("for (int i = 0; i < numbers[0]; ++i) data[i] += data[i * i];")
    assert (known.log_loads, known.log_stores) == (math.log1p(200), math.log1p(100))
    assert (unknown.log_loads, unknown.log_stores) == (math.log1p(24), math.log1p(8))


def test_weights_are_capped() -> None:
    loops = "".join(f"for (int i{n} = 0; i{n} < 1000; ++i{n})" for n in range(9))
    assert features_of_body(f"{loops} data[i0] = 1;").log_stores == math.log1p(1_000_000)


@pytest.mark.parametrize(
    ("body", "guard", "divergent_loop", "guarded_loop"),
    [
        ("if (x < n) data[x] = 1;", True, False, False),
        ("for (int i = 0; i < x; ++i) data[i] = 1;", False, True, False),
        ("if (x < n) for (int i = 0; i < n; ++i) data[i] = 1;", False, False, True),
        ("if (x < n) for (int i = 0; i < n; ++i) if (data[i + x] > 1) data[i] = 1;", False, False, True),
        ("for (int i = 0; i < n; ++i) if (x < i) data[i] = 1;", True, False, False),
        ("for (int i = 0; i < n; ++i) data[i + x] = 1;", False, False, False),
    ],
)
def test_kinds_of_divergent_regions(body: str, guard: bool, divergent_loop: bool, guarded_loop: bool) -> None:
    found = features_of_body(f"int x = get_global_id(0); int n = numbers[0]; {body}")
    shares = (found.divergent_guard_share, found.divergent_loop_share, found.guarded_loop_share)
    assert tuple(share > 0 for share in shares) == (guard, divergent_loop, guarded_loop)


@pytest.mark.parametrize(
    ("index", "before", "after_first", "after_second"),
    [
        ("x", "coalesced", "strided", "coalesced"),
        ("y", "broadcast", "broadcast", "broadcast"),
        ("2 * x", "strided", "strided", "strided"),
        ("x * width + y", "strided", "strided", "strided"),
        ("numbers[x]", "indirect", "indirect", "indirect"),
    ],
)
def test_patterns_before_and_after(index: str, before: str, after_first: str, after_second: str) -> None:
    ids = "int x = get_global_id(0), y = get_global_id(1), width = numbers[7]; local int tile[9];"
    body = f"{ids} tile[x] = data[{index}];"
    for expected, factor, dimension in ((before, 1, 0), (after_first, 4, 0), (after_second, 4, 1)):
        found = features_of_body(body, factor, dimension).by_name()
        assert found[f"{expected}_share"] > 0, (expected, factor, dimension)


@pytest.mark.parametrize(
    ("stride", "factor", "magnitude"), [(1, 1, 0), (1, 8, 3), (4, 1, 2), (4, 2, 3), (1 << 20, 4, 6)]
)
def test_the_magnitude_of_strides_is_capped(stride: int, factor: int, magnitude: float) -> None:
    body = f"data[get_global_id(0) * {stride}] = 1;"
    assert features_of_body(body, factor).stride_magnitude == magnitude


def test_a_stride_too_large_for_a_float_has_the_largest_magnitude() -> None:
    shifts = "long y = get_global_id(0); " + "y = max(y << 60, 1L);" * 20
    assert features_of_body(f"{shifts} data[y] = 1;").stride_magnitude == 6


def test_replicas_along_the_second_dimension_may_be_consecutive() -> None:
    body = "data[get_global_id(0) * numbers[0] + get_global_id(1)] = 1;"
    assert features_of_body(body, 2, 0).consecutive_replicas_share == 0
    # two stores at factor 2, and one load of `numbers`, which stands once
    assert features_of_body(body, 2, 1).consecutive_replicas_share == 2 / 3


def test_atomics_are_counted() -> None:
    assert features_of_body("atomic_inc(numbers); atomic_add(numbers + 1, 2);").log_atomics == math.log1p(2)


def test_vectors_have_elements_and_width() -> None:
    source = "kernel void k(global double4 *p, global char *q) { p[get_global_id(0)].x = q[0]; }"
    found = features(source)
    assert found.mean_vector_width > 1
    assert 1 < found.mean_element_bytes < 8


def test_the_launch() -> None:
    table = mechanism_table(lowered(GUARDED), 0, (32, 4), (1, 8))
    assert table.local_size == (32, 4, 1)
    assert (table.at(1).log_local_extent, table.at(8).log_local_extent) == (5, 2)
    assert (table.at(1).log_group_size, table.at(8).log_group_size) == (7, 4)
    assert table.at(8).log_original_group_size == 7
    assert (table.at(8).along_first_dimension, table.at(8).dimensions_used) == (1, 1)
    assert mechanism_table(lowered(GUARDED), 1).at(1).along_first_dimension == 0


def test_live_words_are_the_estimate_of_the_register_pressure() -> None:
    analysed = analyse(lowered(GUARDED), 0)
    table = mechanism_table(lowered(GUARDED))
    for factor in FACTORS:
        assert table.at(factor).live_words == maximum_live_words(analysed, factor)


def test_both_tables_are_those_that_each_function_gives() -> None:
    kernel = lowered(NEIGHBOUR)
    both = feature_tables(kernel, 0, (64,), (1, 4))
    assert both == (feature_table(kernel, 0, (1, 4)), mechanism_table(kernel, 0, (64,), (1, 4)))


def test_a_kernel_that_does_nothing_has_finite_features() -> None:
    table = mechanism_table(lowered("kernel void nothing(void) {}"))
    assert np.isfinite(table.matrix()).all()
    assert table.at(4).load_growth == 1


def test_the_table() -> None:
    table = mechanism_table(lowered(GUARDED))
    assert (table.kernel, table.dimension, table.factors) == ("guarded", 0, FACTORS)
    assert table.matrix().shape == (len(FACTORS), len(MECHANISM_FEATURES))
    row = table.at(2)
    assert dict(zip(row.by_name(), row.vector(), strict=True)) == row.by_name()
    assert [feature.name for feature in MECHANISM_FEATURES] == list(row.by_name())
    assert all(feature.description and feature.unit for feature in MECHANISM_FEATURES)
    with pytest.raises(InvalidInputError, match="no features at factor 3"):
        table.at(3)


def test_what_cannot_be_computed_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least 1"):
        mechanism_table(lowered(GUARDED), 0, None, (0,))
    with pytest.raises(InvalidInputError, match="local size"):
        mechanism_table(lowered(GUARDED), 0, (0,))
    source = "#pragma OPENCL EXTENSION all : enable\nint work_group_reduce_add(int);\n"
    with pytest.raises(RefusalError):
        features(source + "kernel void odd(global int *p) { p[0] = work_group_reduce_add(p[1]); }")
