"""Features of inputs are those of the launches: by the arguments' names, and by what the buffers hold."""

from __future__ import annotations

import pytest

from coarsen.dispatch.features import ArgumentKind, feature_steps, input_kinds
from coarsen.opencl_bench.inputs.adaptive_points import adaptive_points, kernel_arguments
from coarsen.opencl_bench.workloads.contents.measured import variation_of_lengths
from coarsen.opencl_bench.workloads.lookup import adaptive, adaptive_kernel


def test_arguments_are_named_as_in_the_source() -> None:
    found = {each.name: each.kind for each in kernel_arguments(adaptive_kernel("adaptive-heatStencil"))}
    assert [*found] == ["input", "output", "nx", "ny", "nz", "centre", "side", "plane"]
    assert (found["input"], found["nx"]) == (ArgumentKind.BUFFER, ArgumentKind.WHOLE)
    assert (found["side"], found["plane"]) == (ArgumentKind.REAL, ArgumentKind.LOCAL)


def test_features_of_sizes_and_of_contents() -> None:
    kernel = adaptive_kernel("adaptive-spmvCsr")
    points = adaptive_points(kernel, 5, ["input-000", "input-001", "input-002"])
    assert len({point.group for point in points}) == 1
    for point in points:
        size = kernel.listed[point.name]
        assert point.features["rows"] == size["rows"]
        assert point.features["mean"] == size["mean"]
        starts = kernel.benchmark.workload(point.name, 5).buffers["starts"]
        assert point.features["row_variation"] == variation_of_lengths(starts)
    assert len({point.features["row_variation"] for point in points}) == 3


def test_features_of_buffers_and_of_global_sizes() -> None:
    (point,) = adaptive_points(adaptive_kernel("adaptive-gather"), 0, ["input-000"])
    assert point.features["table_bytes"] == 4 * adaptive_kernel("adaptive-gather").listed["input-000"]["entries"]
    (point,) = adaptive_points(adaptive_kernel("adaptive-sobel"), 0, ["input-000"])
    assert point.features["width"] == adaptive_kernel("adaptive-sobel").listed["input-000"]["width"]


@pytest.mark.parametrize("name", adaptive())
def test_every_feature_is_of_what_a_launch_passes(name: str) -> None:
    kernel = adaptive_kernel(name)
    kinds = input_kinds(kernel_arguments(kernel))
    assert all((feature_steps(each, kinds) is None) == each.is_supplied for each in kernel.all_features)
    assert kernel.features
    assert not set(kernel.inputs.contents[0]) & {*kernel.features, *kernel.supplied}
