"""Fitting on made-up kernels whose law is known: the choices, the decision's settings, storage, judging."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.launch import Risk
from coarsen.models.launch.evaluation import (
    ORACLE,
    Asked,
    ask,
    judge,
    judge_nested,
    launch_scores,
    ran,
)
from coarsen.models.launch.settling import MOST_LOSSES, Judged, settle
from coarsen.models.launch.storage import cases_by_device, load_launch, save_launch
from coarsen.models.launch.training import FittedLaunch, split, train_launch
from coarsen.variant.variant import Variant
from tests.models.launch.made_up import SMALL, case, cases, device_called

LEARNED, CALIBRATION = cases(24), cases(12, first=100)


@pytest.fixture(scope="module")
def fitted() -> FittedLaunch:
    return train_launch(LEARNED, CALIBRATION, SMALL)


def asked(fitted: FittedLaunch, shared: float, number: int = 500) -> Asked:
    return ask(fitted.model, case(number, shared), device_called("intel"))


def test_a_kernel_that_shares_its_work_is_coarsened_at_a_better_local_size(fitted: FittedLaunch) -> None:
    each = asked(fitted, 0.95)
    chosen = each.case.inputs.variants[each.decisions[Risk.NEUTRAL].chosen]
    assert chosen.factor >= 8


def test_a_kernel_that_shares_nothing_gets_the_best_local_size(fitted: FittedLaunch) -> None:
    each = asked(fitted, 0.02)
    assert each.case.inputs.variants[each.decisions[Risk.NEUTRAL].chosen] == Variant((128,))


def test_chances_are_those_of_the_speed_up_over_the_best_uncoarsened_launch(fitted: FittedLaunch) -> None:
    each = asked(fitted, 0.95)
    made = each.decisions[Risk.NEUTRAL]
    over_best, over_own = each.expected.over_best[made.chosen], each.expected.over_own[made.chosen]
    # The own launch has 256 work-items, so it is a doubling away from the best one.
    assert over_own.mean() - over_best.mean() == pytest.approx(0.2, abs=0.15)
    assert each.expected.over_own[each.case.own_place].tolist() == [0.0] * over_own.size


def test_less_risk_loses_less_and_gains_no_more(fitted: FittedLaunch) -> None:
    scores = fitted.settled.scores
    means = [scores[risk][0] for risk in (Risk.CAUTIOUS, Risk.NEUTRAL, Risk.BOLD)]
    assert means == sorted(means)
    assert all(scores[risk][1] <= most for risk, most in MOST_LOSSES.items())


def test_calibration_needs_unrelated_kernels() -> None:
    with pytest.raises(InvalidInputError, match="at least two unrelated kernels"):
        settle([[]])
    related = [replace(each, family="one") for each in CALIBRATION]
    with pytest.raises(InvalidInputError, match="at least two unrelated kernels"):
        train_launch(LEARNED, related, SMALL)


def test_the_decision_is_settled_by_trees_that_did_not_see_the_kernel() -> None:
    """A kernel that lies about itself is believed by trees that learned from it, and by no others."""
    liar = case(900, 0.02, family="liar")
    turned = replace(liar, log_times=-3 * liar.log_times)
    among = train_launch([*LEARNED, turned], [*LEARNED, turned], SMALL)
    seen = next(each for each in among.views[0] if each.case.family == "liar")
    told = next(
        each for each in train_launch(LEARNED, [*LEARNED, liar], SMALL).views[0] if each.case.family == "liar"
    )
    assert np.corrcoef(seen.speeds, told.speeds)[0, 1] > 0.9
    itself = among.model.parts.log_speeds(liar.inputs)
    assert np.corrcoef(itself, told.speeds)[0, 1] < np.corrcoef(seen.speeds, told.speeds)[0, 1]


def test_the_calibration_set_is_settled_on_alone_and_other_kernels_are_fitted_on_too() -> None:
    kept = case(900, 0.5, kernel="launch-3-19")
    assert split([*LEARNED, kept]) == (tuple(LEARNED), (*LEARNED, kept))


def test_the_nests_kept_aside_are_in_neither_set_and_are_refused() -> None:
    kept = case(901, 0.5, kernel="nest-0-19")
    assert split([*LEARNED, kept]) == (tuple(LEARNED), tuple(LEARNED))
    with pytest.raises(InvalidInputError, match="nest-0-19 is a kernel of the nests kept aside"):
        train_launch(LEARNED, [*LEARNED, kept], SMALL)


def test_kernels_with_one_local_size_or_unclear_times_are_not_settled_on() -> None:
    inputs = LEARNED[0].inputs
    other = [place for place, each in enumerate(inputs.variants) if each.local_size != (256,)]
    times = LEARNED[0].log_times.copy()
    times[other] = np.nan
    unclear = replace(LEARNED[1], errors=np.full(len(LEARNED[1].log_times), 0.2))
    one = replace(LEARNED[0], log_times=times)
    assert split([one, unclear, LEARNED[2]]) == ((one, unclear, LEARNED[2]), (LEARNED[2],))


def test_neutral_loses_no_more_often_than_the_choice_of_the_local_size_does(fitted: FittedLaunch) -> None:
    """Here local sizes can't be told apart: whoever chooses one alone loses in half of the cases."""
    views = [[_blind(each, number % 2) for number, each in enumerate(view)] for view in fitted.views]
    scores = settle(views).scores
    assert MOST_LOSSES[Risk.NEUTRAL] < scores[Risk.NEUTRAL][1] <= 0.5
    assert scores[Risk.NEUTRAL] == scores[Risk.BOLD], "nothing is given up for losses that nobody averts"


def _blind(judged: Judged, sign: int) -> Judged:
    """A case of which one uncoarsened launch is slower than the other, and predictions that don't know which."""
    case = judged.case
    kept = [0, 1, *np.flatnonzero(case.inputs.is_coarsened)[:1].tolist()]
    times = np.array([[0.15], [-0.15], [-0.9 if sign else 0.0]])
    times[:2] *= 1 if sign else -1
    only = replace(case, inputs=case.inputs.only(kept), log_times=times, errors=None, own=0)
    return replace(judged, case=only, speeds=np.array([0.01, 0.0, 0.3 if sign else -0.3]))


def test_what_was_stored_says_the_same(fitted: FittedLaunch, tmp_path: Path) -> None:
    save_launch(fitted.model, provenance(), tmp_path)
    loaded = load_launch(tmp_path)
    assert dict(loaded.rules) == dict(fitted.model.rules)
    measured = case(500, 0.7)
    one, other = (model.expect([measured.inputs], device_called("intel")) for model in (fitted.model, loaded))
    assert np.array_equal(one.over_best, other.over_best) and np.array_equal(one.over_own, other.over_own)
    assert loaded.known_as(LEARNED[3].identity) == LEARNED[3].kernel
    assert loaded.known_as("ffff") is None


def test_a_model_of_other_inputs_is_refused(fitted: FittedLaunch, tmp_path: Path) -> None:
    save_launch(fitted.model, provenance(), tmp_path)
    card = json.loads((tmp_path / "launch.json").read_text())
    card["coarsening_inputs"][0] = ["configuration", "something else"]
    (tmp_path / "launch.json").write_text(json.dumps(card))
    with pytest.raises(InvalidInputError, match="was made for other inputs than those of this version"):
        load_launch(tmp_path)


def test_numbers_that_the_card_does_not_describe_are_refused(fitted: FittedLaunch, tmp_path: Path) -> None:
    save_launch(fitted.model, provenance(), tmp_path)
    with (tmp_path / "launch.safetensors").open("ab") as file:
        file.write(b" ")
    with pytest.raises(InvalidInputError, match="the model 'launch' is damaged"):
        load_launch(tmp_path)


def test_where_there_is_no_model_it_is_said_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"there is no launch model in .*coarsen train --model launch"):
        load_launch(tmp_path)


def test_entrants_are_scored_over_the_best_uncoarsened_launch(fitted: FittedLaunch) -> None:
    unseen = [case(600 + number, number / 12, runs=3) for number in range(12)]
    judgement = judge([ask(fitted.model, each, device_called("intel")) for each in unseen])
    scores = launch_scores(judgement)
    assert scores[ORACLE].share_of_oracle == pytest.approx(1.0)
    # The own local size costs 0.2 against the best one.
    assert scores["never"].geometric_mean == pytest.approx(math.exp(-0.2), abs=0.02)
    assert scores["local-size-only"].geometric_mean == pytest.approx(1.0, abs=0.02)
    assert scores["launch"].share_of_oracle > 0.85
    assert scores["launch+6"].share_of_oracle > scores["launch"].share_of_oracle - 0.02
    assert scores["launch"].losses < 0.2


def test_choices_are_scored_by_a_run_that_nobody_chose_by(fitted: FittedLaunch) -> None:
    measured = case(700, 0.9, runs=3)
    times = measured.log_times.copy()
    lucky = next(n for n, variant in enumerate(measured.inputs.variants) if variant.factor == 2)
    times[lucky, 1] = -5.0
    judgement = judge([ask(fitted.model, replace(measured, log_times=times), device_called("intel"))])
    oracle = next(outcome for outcome in judgement if outcome.entrant == ORACLE)
    assert oracle.chosen == measured.inputs.variants[lucky]
    assert oracle.gain < 0.6, "what looked fast in its own run is as slow as it is in the next"


def test_launches_that_did_not_run_are_nobodys_choice() -> None:
    measured = case(701, 0.9)
    times = measured.log_times.copy()
    times[:2] = np.nan
    left = ran(replace(measured, log_times=times))
    assert left.inputs.variants == measured.inputs.variants[2:]
    assert left.own is None and not left.inputs.variants[left.own_place].is_coarsened


def test_kernels_are_judged_by_what_never_saw_their_families(fitted: FittedLaunch) -> None:
    judgement = judge_nested(fitted.views[0])
    assert {outcome.case.kernel for outcome in judgement} == {each.kernel for each in CALIBRATION}
    assert launch_scores(judgement)["launch"].share_of_oracle > 0.8


def provenance() -> dict[str, object]:
    identities = {each.kernel: each.identity for each in LEARNED}
    return {"date": "2030-01-02", "data": {"cases": cases_by_device(LEARNED), "identities": identities}}
