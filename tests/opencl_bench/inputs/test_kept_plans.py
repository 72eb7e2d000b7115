"""Plans that a file keeps are not made again, and are the same; whatever they depend on makes another one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.entrants import Settings
from coarsen.models.inputs.judging import Plan, Study, plan
from coarsen.models.inputs.times import InputPoint
from coarsen.opencl_bench.inputs import kept_plans
from coarsen.opencl_bench.inputs.kept_plans import planned, study_key
from coarsen.opencl_bench.inputs.kept_searches import KeptSearches
from coarsen.opencl_bench.inputs.stage_one import StageOneSettings
from coarsen.opencl_bench.inputs.stage_one_replay import ReplayedStageOne
from coarsen.opencl_bench.search.random_sample import RandomSearcher
from tests.opencl_bench.inputs.test_stage_one import grid_times

SETTINGS = Settings(0.05)


def study_of(kept: KeptSearches | None = None) -> Study:
    stage = ReplayedStageOne(StageOneSettings(RandomSearcher()), {} if kept is None else kept)
    return Study("made up", grid_times(6, noise=0.02), SETTINGS, stage)


def choices(made: Plan) -> tuple[object, ...]:
    return made.left_out, made.largest, made.tree, made.shipped, made.pairs


def test_a_kept_plan_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "searches.jsonl"
    first = planned(study_of(KeptSearches(file)), KeptSearches(file))
    assert choices(first) == choices(plan(study_of()))

    def refuse(_study: Study) -> Plan:
        raise AssertionError("planned again")

    monkeypatch.setattr(kept_plans, "plan", refuse)
    kept = KeptSearches(file)
    assert choices(planned(study_of(kept), kept)) == choices(first)
    changed = replace(study_of(), settings=Settings(0.04))
    with pytest.raises(AssertionError, match="planned again"):
        planned(changed, kept)


def test_all_that_a_plan_depends_on_is_in_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of()
    times = study.times
    seconds = np.array(times.seconds)
    seconds[2, 1] = np.nextafter(seconds[2, 1], 1)
    moved = tuple(InputPoint(each.name, each.group, {**each.features, "n": 5.0}) for each in times.inputs)
    changes = [
        replace(study, kernel="another"),
        replace(study, times=replace(times, seconds=seconds)),
        replace(study, times=replace(times, inputs=moved)),
        replace(study, settings=Settings(0.05, frozenset({"n"}))),
        replace(study, settings=Settings(0.05, most=7)),
        replace(study, stage_one=None),
        replace(study, stage_one=ReplayedStageOne(StageOneSettings(RandomSearcher(), seed=1))),
    ]
    keys = [study_key(each) for each in (study, *changes)]
    assert keys[0] == study_key(study_of()) and len({*keys}) == len(keys)
    monkeypatch.setattr(kept_plans, "_program_hash", lambda: b"another program")
    assert study_key(study) not in keys


def test_a_damaged_plan_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "searches.jsonl"
    study = study_of()
    KeptSearches(file).keep_plan(study_key(study), {"left_out": {}})
    with pytest.raises(InvalidInputError, match="name another file"):
        planned(study, KeptSearches(file))
