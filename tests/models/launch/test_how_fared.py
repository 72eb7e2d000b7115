"""How predictions fared, by a model's card, which may come from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from coarsen.models.launch import Risk
from coarsen.models.launch.prediction import Fared, how_fared
from coarsen.models.launch.storage import load_launch

SCORE = {"cases": 3, "geometric_mean": 1.25, "losses": 0.5, "worst": 0.2}


def card(entrants: object) -> Mapping[str, object]:
    return {"evaluation": {"families_held_out": {"devices": {"intel": {"entrants": entrants}}}}}


def scored(**other: object) -> Mapping[str, object]:
    return card({"launch": {**SCORE, **other}, "oracle": {"geometric_mean": 2}})


def test_each_risk_and_device_by_its_own_scores() -> None:
    scores = {"launch": SCORE, "launch-cautious": {**SCORE, "losses": 0.25}, "oracle": {"geometric_mean": 2}}
    assert how_fared(card(scores), "intel", Risk.NEUTRAL) == Fared(3, 1.25, 2.0, 0.5)
    assert how_fared(card(scores), "intel", Risk.CAUTIOUS) == Fared(3, 1.25, 2.0, 0.25)
    assert how_fared(card(scores), "intel", Risk.BOLD) is None
    assert how_fared(card(scores), "pocl", Risk.NEUTRAL) is None


@pytest.mark.parametrize(
    "written",
    [
        *({}, {"evaluation": 3}, card([]), card({"launch": SCORE}), card({"launch": 1, "oracle": 2})),
        *(scored(cases=math.inf), scored(geometric_mean=math.nan), scored(losses=math.inf), scored(losses="many")),
    ],
)
def test_a_card_that_says_nothing(written: Mapping[str, object]) -> None:
    assert how_fared(written, "intel", Risk.NEUTRAL) is None


@pytest.mark.parametrize("name", ["intel", "pocl", "h200"])
def test_the_shipped_model_says_it_of_each_device(name: str) -> None:
    found = [how_fared(load_launch().card, name, risk) for risk in Risk]
    assert all(each is not None and each.cases > 100 and each.gain < each.best for each in found)
