"""The matrix of times: what is refused, what a failed version costs, and parts of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import MOST_REGRET, Ending, InputPoint, VersionTimes
from tests.models.inputs.made_up import times_of, version

NAN = float("nan")
TIMES = VersionTimes(
    inputs=(
        InputPoint("a", "small", {"n": 1.0, "rows": 2.0}),
        InputPoint("b", "small", {"n": 1.0, "rows": 2.0}),
        InputPoint("c", "large", {"n": 8.0, "rows": 2.0}),
    ),
    versions=(version(0), version(1), version(2)),
    seconds=np.array([[2.0, 1.0, 100.0], [1.0, 2.0, NAN], [3.0, 3.0, 3.0]]),
    default=0,
)


def test_regret_is_a_logarithm_up_to_ln_four_and_ln_four_where_a_version_failed() -> None:
    expected = [[np.log(2), 0.0, MOST_REGRET], [0.0, np.log(2), MOST_REGRET], [0.0, 0.0, 0.0]]
    assert TIMES.regret == pytest.approx(np.array(expected))


@pytest.mark.parametrize("ending", [Ending.RAN, Ending.FAILED, Ending.WRONG])
def test_a_version_that_is_launched_and_fails_counts_as_four_times_the_best(ending: Ending) -> None:
    times = replace(TIMES, endings=np.full((3, 3), ending))
    assert times.played[1].tolist() == [1.0, 2.0, 4.0]
    assert times.regret[1, 2] == MOST_REGRET
    assert TIMES.best.tolist() == [1.0, 1.0, 3.0]


def test_a_version_that_can_not_be_launched_falls_back_to_the_default_one() -> None:
    seconds = TIMES.seconds.copy()
    seconds[0, 2] = NAN
    times = replace(TIMES, seconds=seconds, endings=np.full((3, 3), Ending.FELL_BACK))
    assert times.played[:2].tolist() == [[2.0, 1.0, 2.0], [1.0, 2.0, 1.0]]
    assert times.regret[0].tolist() == pytest.approx([np.log(2), 0.0, np.log(2)])
    # What has a time ran, whatever is said of it.
    assert times.endings.tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    part = times.of_inputs([1, 0]).of_versions([2, 0])
    assert part.endings.tolist() == [[1, 0], [1, 0]]


def test_groups_are_held_out_whole() -> None:
    assert TIMES.groups == ("small", "large")
    assert TIMES.in_groups(["small"]) == (0, 1)
    assert TIMES.outside(["small"]) == (2,)


def test_parts_keep_names_features_and_the_default() -> None:
    part = TIMES.of_inputs([2, 0]).of_versions([1, 0])
    assert [point.name for point in part.inputs] == ["c", "a"]
    assert part.seconds.tolist() == [[3.0, 3.0], [1.0, 2.0]]
    assert part.default == 1
    assert part.features(["rows", "n"]).tolist() == [[2.0, 8.0], [2.0, 1.0]]
    assert part.features([]).shape == (2, 0)
    with pytest.raises(InvalidInputError, match="default"):
        TIMES.of_versions([1, 2])


def test_the_times_are_a_copy_that_nothing_writes_to() -> None:
    seconds = np.ones((1, 1))
    times = VersionTimes((InputPoint("a", "a", {}),), (version(0),), seconds, 0)
    seconds[0, 0] = 5.0
    assert times.seconds[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        times.seconds[0, 0] = 2.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inputs": ()}, "no inputs"),
        ({"inputs": (TIMES.inputs[0], TIMES.inputs[0], TIMES.inputs[2])}, "'a' is there twice"),
        ({"inputs": (*TIMES.inputs[:2], InputPoint("c", "large", {"n": 8.0}))}, "different features"),
        ({"inputs": (*TIMES.inputs[:2], InputPoint("c", "large", {"n": NAN, "rows": 2.0}))}, "not finite"),
        ({"versions": ()}, "no versions"),
        ({"versions": (version(0), version(1), version(1))}, "twice: uncoarsened, -D BLOCK=1"),
        ({"default": 3}, "there are 3"),
        ({"default": -1}, "there are 3"),
        ({"default": 2}, "no time on the input 'b'"),
        ({"seconds": np.ones((2, 3))}, "another shape"),
        ({"endings": np.zeros((2, 3))}, "endings have another shape"),
        ({"seconds": np.zeros((3, 3))}, "above 0"),
        ({"seconds": np.full((3, 3), np.inf)}, "above 0"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as refused:
        replace(TIMES, **changes)
    assert "\n" not in str(refused.value)


def test_made_up_times_follow_their_law() -> None:
    assert times_of([lambda n: n, lambda n: 8.0], [4, 16]).seconds.tolist() == [[4.0, 8.0], [16.0, 8.0]]
