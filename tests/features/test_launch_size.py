"""Local sizes of launches, given or assumed."""

from __future__ import annotations

import pytest

from coarsen.errors import InvalidInputError
from coarsen.features.kernel_facts import launch_size, used_dimensions
from tests.features.counted_kernels import lowered, lowered_body


@pytest.mark.parametrize(
    ("body", "dimensions", "size"),
    [
        ("data[0] = 1.0f;", 1, (256, 1, 1)),
        ("data[get_global_id(0)] = 1.0f;", 1, (256, 1, 1)),
        ("data[get_global_size(1)] = 1.0f;", 1, (256, 1, 1)),
        ("data[get_group_id(1)] = 1.0f;", 2, (16, 16, 1)),
        ("data[get_local_id(2)] = 1.0f;", 3, (8, 8, 4)),
        ("data[get_global_id(numbers[0])] = 1.0f;", 3, (8, 8, 4)),
    ],
)
def test_what_is_not_known_follows_from_the_dimensions(
    body: str, dimensions: int, size: tuple[int, int, int]
) -> None:
    kernel = lowered_body(body)
    assert used_dimensions(kernel) == dimensions
    assert launch_size(kernel, None) == size


def test_a_required_size_comes_first_and_a_given_one_before_it() -> None:
    source = "kernel __attribute__((reqd_work_group_size(32, 4, 1))) void k(global int *p) { *p = 1; }"
    kernel = lowered(source)
    assert launch_size(kernel, None) == (32, 4, 1)
    assert launch_size(kernel, (8,)) == (8, 1, 1)
    assert launch_size(kernel, (8, 2, 3)) == (8, 2, 3)


@pytest.mark.parametrize("size", [(), (0,), (4, -1), (1, 1, 1, 1)])
def test_other_sizes_are_refused(size: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInputError, match="one to three numbers of at least 1"):
        launch_size(lowered_body("data[0] = 1.0f;"), size)
