"""How often the blocks of a kernel run."""

from __future__ import annotations

import pytest

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.executions import ASSUMED_TRIPS
from coarsen.cost.block_profile import MAXIMUM_WEIGHT, block_weights
from tests.features.counted_kernels import lowered_body


@pytest.mark.parametrize(
    ("body", "weight"),
    [
        ("data[0] = 1;", 1),
        ("if (numbers[0]) data[0] = 1;", 1),
        ("for (int i = 0; i < 5; ++i) data[i] = 1;", 5),
        ("for (int i = 0; i < numbers[0]; ++i) data[i] = 1;", ASSUMED_TRIPS),
        ("for (int i = 0; i < 5; ++i) for (int j = 0; j < numbers[0]; ++j) data[j] = 1;", 5 * ASSUMED_TRIPS),
        ("for (int i = 0; i < 5000; ++i) for (int j = 0; j < 5000; ++j) data[j] = 1;", MAXIMUM_WEIGHT),
        ("int n = numbers[0]; for (int i = n; i < n; ++i) data[i] = 1;", 1),
    ],
)
def test_a_block_weighs_as_often_as_it_runs(body: str, weight: int) -> None:
    kernel = lowered_body(body)
    weights = block_weights(IndexForms(kernel, ControlFlow(kernel)))
    storing = [b.name for b in kernel.blocks if any(i.opcode == "store" for i in b.instructions)]
    assert [weights[name] for name in storing] == [weight]
    assert weights[kernel.blocks[0].name] == 1
