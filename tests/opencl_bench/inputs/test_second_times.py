"""What an evaluation has confirmed, and the times that are made of it."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.models.inputs.entrants import Settings
from coarsen.models.inputs.judging import Plan, Study, judged, plan
from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.opencl_bench.inputs.second_times import cells_to_confirm, second_times
from coarsen.variant.variant import Variant

VERSIONS = tuple(Variant(definitions=(("BLOCK", str(block)),)) for block in (64, 128, 256))
SECONDS = np.array([[2.0, 1.0, 3.0]] * 4 + [[2.0, 3.0, 1.0]] * 4)
INPUTS = tuple(InputPoint(f"input-{n}", f"{n}", {"n": float(2**n)}) for n in range(8))
TIMES = VersionTimes(INPUTS, VERSIONS, SECONDS, 0)


@pytest.fixture(scope="module")
def made() -> Plan:
    return plan(Study("made up", TIMES, Settings(0.05)))


def test_the_default_version_is_timed_with_every_other_and_not_by_itself(made: Plan) -> None:
    cells = cells_to_confirm(made)
    assert len(cells) == len(made.pairs) - sum(column == 0 for _, column in made.pairs)
    assert VERSIONS[0] not in {version for _, version in cells}
    assert ("input-0", VERSIONS[1]) in cells


def test_confirmed_ratios_make_the_times_that_judge(made: Plan) -> None:
    ratios = dict.fromkeys(cells_to_confirm(made), 0.25)
    again = second_times(TIMES, {**ratios, ("another input", VERSIONS[1]): 9.0})
    assert (again[:, 0] == 2.0).all()
    assert set(again[~np.isnan(again)].tolist()) == {2.0, 0.5}
    result = judged(made, again)
    assert result.outcome.inputs == INPUTS


def test_what_was_not_confirmed_has_no_time_and_what_failed_takes_for_ever() -> None:
    again = second_times(TIMES, {("input-3", VERSIONS[2]): 0.5, ("input-4", VERSIONS[2]): np.nan})
    assert again[4, 2] == np.inf
    assert again[3].tolist()[0::2] == [2.0, 1.0]
    assert np.isnan(again[:, 1]).all()
