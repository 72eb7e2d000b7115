"""What counts as a right output."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coarsen.tuning.measure.comparison import PIECE, compare
from coarsen.tuning.workload.benchmark import Array, Workload


def mismatches(got: Array, wanted: Array, **tolerances: float) -> list[str]:
    workload = Workload(
        buffers={"result": got},
        launches=(),
        outputs=("result",),
        reference=lambda: {"result": wanted},
        relative_tolerance=tolerances.get("relative", 0.0),
        absolute_tolerance=tolerances.get("absolute", 0.0),
        integer_tolerance=int(tolerances.get("integer", 0)),
    )
    return compare({"result": got}, workload.expected(), workload)


def test_message_has_count_error_and_first_index() -> None:
    got = np.array([[1, 2, 3], [4, 9, 0]], np.int32)
    wanted = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
    assert mismatches(got, wanted) == [
        "result: 2 of 6 elements wrong, largest error 6, first at [1, 1]: 9 instead of 5"
    ]


@pytest.mark.parametrize(("tolerance", "right"), [(0, False), (1, True)])
def test_unsigned_difference_does_not_wrap(tolerance: int, right: bool) -> None:
    got, wanted = np.array([4], np.uint8), np.array([5], np.uint8)
    assert (mismatches(got, wanted, integer=tolerance) == []) is right
    assert (mismatches(wanted, got, integer=tolerance) == []) is right


def test_integers_are_exact_however_large() -> None:
    assert mismatches(np.array([2**60 + 1]), np.array([2**60]), relative=1.0, absolute=1.0) != []


@pytest.mark.parametrize(
    ("got", "wanted", "right"),
    [(1.009, 1.0, True), (1.011, 1.0, False), (0.0009, 0.0, True), (0.0011, 0.0, False), (-100.9, -100.0, True)],
)
def test_floating_point_tolerances(got: float, wanted: float, right: bool) -> None:
    found = mismatches(np.array([got]), np.array([wanted]), relative=0.009, absolute=0.001)
    assert (found == []) is right


@pytest.mark.parametrize(
    ("got", "wanted", "right"),
    [
        (np.nan, 1.0, False),
        (1.0, np.nan, False),
        (np.nan, np.nan, True),
        (np.inf, np.inf, True),
        (np.inf, -np.inf, False),
        (np.inf, 1.0, False),
        (1.0, np.inf, False),
    ],
)
def test_not_a_number_and_infinity(got: float, wanted: float, right: bool) -> None:
    found = mismatches(np.array([got]), np.array([wanted]), relative=0.1, absolute=0.1)
    assert (found == []) is right


def test_other_shape_or_type_is_wrong() -> None:
    assert "shape" in mismatches(np.zeros(3), np.zeros((3, 1)))[0]
    assert "type" in mismatches(np.zeros(3, np.float32), np.zeros(3, np.int32))[0]


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_large_buffers_are_compared_to_their_ends(dtype: type[np.generic]) -> None:
    wanted = np.zeros((3 * PIECE + 5, 2), dtype)
    got = wanted.copy()
    assert mismatches(got, wanted) == []
    got[-1, 1] = 7
    (message,) = mismatches(got, wanted)
    assert f"1 of {got.size} elements wrong, largest error 7, first at [{3 * PIECE + 4}, 1]" in message


def test_rounded_numbers_compared_without_a_tolerance_are_said_to_be() -> None:
    got, wanted = np.array([1.0000001]), np.array([1.0])
    (exact,) = mismatches(got, wanted)
    assert exact.endswith("instead of 1.0; no tolerance is given, so every bit has to be the same")
    (near,) = mismatches(got, wanted, relative=1e-9)
    assert near.endswith("instead of 1.0")


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_signed_difference_does_not_wrap(kind: type[np.signedinteger[Any]]) -> None:
    limits = np.iinfo(kind)
    for one, other in ((limits.min, limits.max), (-5, limits.max)):
        assert mismatches(np.array([one], kind), np.array([other], kind), integer=3) != []


PAIR = np.dtype({"names": ["key", "weight"], "formats": [np.int16, np.float32], "offsets": [0, 4], "itemsize": 12})


def pairs(numbers: list[tuple[int, float]], padding: int = 0) -> Array:
    array = np.full(12 * len(numbers), padding, np.uint8).view(PAIR)
    array["key"], array["weight"] = zip(*numbers, strict=True)
    return array


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ((2, 0.5), []),
        ((2, 0.5001), []),
        ((2, 0.6), ["result.weight: 1 of 2 elements wrong", "first at [1]: 0.6"]),
        ((3, 0.5), ["result.key: 1 of 2 elements wrong", "first at [1]: 3 instead of 2"]),
    ],
)
def test_structures_are_compared_by_their_fields(second: tuple[int, float], words: list[str]) -> None:
    found = mismatches(pairs([(1, 0.0), second], 7), pairs([(1, 0.0), (2, 0.5)], 9), relative=0.01)
    assert len(found) == bool(words)
    assert all(word in found[0] for word in words)


def order_free(got: dict[str, Array], wanted: dict[str, Array], *groups: tuple[str, ...]) -> list[str]:
    workload = Workload({}, (), tuple(got), None, relative_tolerance=0.01, order_free=groups)
    before = {name: array.copy() for name, array in got.items()}
    found = compare(got, wanted, workload)
    assert all(np.array_equal(got[name], before[name]) for name in got)
    return found


def test_outputs_of_any_order() -> None:
    keys, values = np.array([3, 1, 2]), np.array([0.3, 0.1, 0.2])
    other = np.array([1, 0, 2])
    got, wanted = {"keys": keys[other], "values": values[other] * 1.001}, {"keys": keys, "values": values}
    assert order_free(got, wanted, ("keys", "values")) == []
    assert order_free(got, wanted, ("keys",), ("values",)) == []
    assert len(order_free(got, wanted, ("keys",))) == 1
    assert len(order_free(got, wanted)) == 2
    # The same keys and the same values, but not those that go together.
    assert order_free({**got, "keys": keys}, wanted, ("keys", "values")) != []
    assert order_free({**got, "keys": keys}, wanted, ("keys",), ("values",)) == []


def test_one_too_many_is_wrong_in_any_order() -> None:
    once, twice = np.array([[1, 5], [2, 6], [2, 6]]), np.array([[2, 6], [1, 5], [1, 5]])
    assert order_free({"rows": once}, {"rows": once[::-1].copy()}, ("rows",)) == []
    assert order_free({"rows": once}, {"rows": twice}, ("rows",)) != []
    assert (
        order_free({"pairs": pairs([(1, 2.0), (0, 3.0)])}, {"pairs": pairs([(0, 3.0), (1, 2.0)])}, ("pairs",))
        == []
    )
