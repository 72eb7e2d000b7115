"""What a model takes of two compilations, and the occupancy of a compiled kernel."""

from __future__ import annotations

import math

import pytest

from coarsen.models.compiled.facts import CompiledFacts
from coarsen.models.compiled.inputs import CHANGED_FACTS, INPUT_NAMES, compiled_inputs
from coarsen.models.compiled.occupancy import CAPABILITIES, occupancy_of

HOPPER = CAPABILITIES[9, 0]


def test_changes_are_logarithms_of_ratios() -> None:
    original = CompiledFacts(item_lanes=16, spilled_bytes=0, registers=32, occupancy=1.0)
    candidate = CompiledFacts(item_lanes=4, spilled_bytes=60, registers=48, occupancy=0.5)
    inputs = compiled_inputs(original, candidate)
    assert tuple(inputs) == INPUT_NAMES
    assert inputs["item_lanes_change"] == -2
    assert inputs["spilled_bytes_change"] == 4, "(60 + 4) / (0 + 4)"
    assert inputs["registers_change"] == pytest.approx(math.log2(1.5))
    assert inputs["occupancy_change"] == -1
    known = {"item_lanes", "spilled_bytes", "registers", "occupancy"}
    assert {name for name in CHANGED_FACTS if inputs[f"{name}_known"]} == known


def test_what_is_not_known_of_both_is_zero_and_says_so() -> None:
    inputs = compiled_inputs(CompiledFacts(item_lanes=8, registers=9), CompiledFacts(item_lanes=8))
    assert (inputs["item_lanes_change"], inputs["item_lanes_known"]) == (0, 1)
    assert (inputs["registers_change"], inputs["registers_known"]) == (0, 0)
    for missing in (compiled_inputs(None, CompiledFacts(registers=9)), compiled_inputs(CompiledFacts(), None)):
        assert set(missing.values()) == {0.0}
        assert tuple(missing) == INPUT_NAMES


def test_nothing_has_no_logarithm() -> None:
    inputs = compiled_inputs(CompiledFacts(occupancy=0.0, gathers=0), CompiledFacts(occupancy=0.5, gathers=0))
    assert (inputs["occupancy_change"], inputs["occupancy_known"]) == (0, 0)
    assert (inputs["gathers_change"], inputs["gathers_known"]) == (0, 1)


@pytest.mark.parametrize(
    ("registers", "local_bytes", "local_size", "expected"),
    [
        (32, 0, (256,), 1.0),
        (33, 0, (256,), 0.75),  # 40 registers are allotted: six groups
        (64, 0, (16, 16), 0.5),
        (16, 64 << 10, (128,), 3 * 128 / 2048),
        (16, 0, (8,), 32 * 32 / 2048),  # a warp each, of 32 groups
        (255, 0, (1024,), 0.0),
    ],
)
def test_occupancy(registers: int, local_bytes: int, local_size: tuple[int, ...], expected: float) -> None:
    facts = CompiledFacts(registers=registers, local_bytes=local_bytes)
    assert occupancy_of(facts, local_size, HOPPER) == expected


def test_without_registers_there_is_no_occupancy() -> None:
    assert occupancy_of(CompiledFacts(), (64,), HOPPER) is None


@pytest.mark.parametrize(
    ("items", "loops", "expected"),
    [(1, 1, "nothing"), (8, 1, "work-items"), (1, 4, "loop"), (8, 4, "both"), (None, 4, None), (8, None, None)],
)
def test_the_direction_of_vectorisation(items: int | None, loops: int | None, expected: str | None) -> None:
    assert CompiledFacts(item_lanes=items, loop_lanes=loops).vectorised == expected
