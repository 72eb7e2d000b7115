"""The inputs that stand for all."""

from __future__ import annotations

from coarsen.models.inputs.anchors import anchor_rows


def test_anchors_reach_from_the_smallest_to_the_largest() -> None:
    assert anchor_rows([4.0, 1.0, 3.0, 9.0, 2.0]) == (1, 2, 3)
    assert anchor_rows([4.0, 1.0]) == (1, 0)
    assert anchor_rows([4.0]) == (0,)
