"""What each instruction and builtin counts as."""

from __future__ import annotations

import pytest

from coarsen.cost.instruction_kinds import Kind, kinds_of
from tests.features.counted_kernels import lowered_body

CASES = [
    ("data[0] = data[1] + data[2];", {Kind.LOAD: 2, Kind.STORE: 1, Kind.FLOATING_POINT: 1}),
    ("numbers[0] = data[0] < data[1];", {Kind.LOAD: 2, Kind.STORE: 1, Kind.FLOATING_POINT: 1}),
    ("numbers[0] = (numbers[1] << 3) ^ numbers[2];", {Kind.LOAD: 2, Kind.STORE: 1, Kind.INTEGER: 2}),
    ("numbers[0] = mul24(numbers[1], numbers[2]);", {Kind.LOAD: 2, Kind.STORE: 1, Kind.INTEGER: 1}),
    ("data[0] = sin(data[1]);", {Kind.LOAD: 1, Kind.STORE: 1, Kind.MATH: 1}),
    ("data[0] = mix(data[0], data[1], 0.5f);", {Kind.LOAD: 2, Kind.STORE: 1, Kind.MATH: 1}),
    ("data[0] = data[0] * data[1] + data[2];", {Kind.LOAD: 3, Kind.STORE: 1, Kind.FLOATING_POINT: 1}),
    ("data[0] = convert_float(numbers[0]);", {Kind.LOAD: 1, Kind.STORE: 1}),
    ("numbers[0] = isnan(data[0]);", {Kind.LOAD: 1, Kind.STORE: 1, Kind.FLOATING_POINT: 1}),
    ("vstore4(vload4(0, data) * 2.0f, 1, data);", {Kind.LOAD: 1, Kind.STORE: 1, Kind.FLOATING_POINT: 1}),
    ("atomic_inc(numbers);", {Kind.LOAD: 1, Kind.STORE: 1}),
    ("barrier(CLK_GLOBAL_MEM_FENCE);", {Kind.BARRIER: 1}),
    ("mem_fence(CLK_GLOBAL_MEM_FENCE);", {}),
    ("numbers[0] = get_group_id(0);", {Kind.STORE: 1}),
    ("if (numbers[0]) numbers[1] = 2;", {Kind.LOAD: 1, Kind.STORE: 1, Kind.INTEGER: 1, Kind.BRANCH: 1}),
]


@pytest.mark.parametrize(("body", "expected"), CASES, ids=[case[0] for case in CASES])
def test_kinds(body: str, expected: dict[Kind, int]) -> None:
    kinds = [kind for instruction in lowered_body(body).instructions() for kind in kinds_of(instruction)]
    assert {kind: kinds.count(kind) for kind in kinds} == expected


def test_images_are_memory() -> None:
    kernel = lowered_body(
        "float4 pixel = read_imagef(source, (int2)(0, 0)); write_imagef(target, (int2)(1, 1), pixel);",
        "read_only image2d_t source, write_only image2d_t target",
    )
    kinds = [kind for instruction in kernel.instructions() for kind in kinds_of(instruction)]
    assert sorted(kind.name for kind in kinds) == ["LOAD", "STORE"]
