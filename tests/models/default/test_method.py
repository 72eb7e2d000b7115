"""The default model as the evaluation takes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.default.method import Default, DefaultPredictor
from coarsen.models.default.training import ForestSettings, train
from coarsen.models.evaluation.method import BatchMethod, Choice, Fit, Method
from coarsen.models.examples import Example
from tests.models.default.made_up import with_best_factor_alone

SMALL = ForestSettings(trees=20)


def test_it_chooses_what_the_model_chooses_without_the_answer(examples: tuple[Example, ...]) -> None:
    method: Method = Default(SMALL)
    predictor = method.fit(examples[30:], seed=2)
    assert method.name == "default"
    assert isinstance(method, BatchMethod)
    model = train(examples[30:], seed=2, settings=SMALL).model
    for example in examples[:30]:
        choice = predictor.choose(example.blind())
        assert predictor.choose(example) == choice
        assert choice == DefaultPredictor(model).choose(example)
        assert set(choice.step_probability) == {1, 2, 4, 8, 16}


def test_fits_do_not_touch_each_other(examples: tuple[Example, ...]) -> None:
    method = Default(SMALL)
    alone = Default(SMALL).fit(examples[60:], seed=0).choose(examples[0])
    method.fit(examples[30:], seed=1)
    assert method.fit(examples[60:], seed=0).choose(examples[0]) == alone


def test_without_curves_it_abstains(examples: tuple[Example, ...]) -> None:
    known = [with_best_factor_alone(example, "tahiti", 4) for example in examples]
    assert Default(SMALL).fit(known, seed=0).choose(examples[0]) == Choice(1, abstained=True)


def test_an_unknown_device_is_refused(examples: tuple[Example, ...]) -> None:
    predictor = Default(SMALL).fit(examples, seed=0)
    with pytest.raises(InvalidInputError, match="voodoo"):
        predictor.choose(replace(examples[0], device="voodoo"))


def test_many_fits_give_what_each_gives_alone(examples: tuple[Example, ...]) -> None:
    """Two of them share their forest and differ in best factors."""
    known = tuple(with_best_factor_alone(example, "tahiti", 8) for example in examples[:30:3])
    fits = [Fit((*examples, *known), 0), Fit((*examples, *known[:3]), 0), Fit(examples[30:], 0), Fit(known, 1)]
    together = list(Default(SMALL).fit_many(fits))
    alone = [Default(SMALL).fit(fit.training, fit.seed) for fit in fits]
    for one, other in zip(together, alone, strict=True):
        assert [one.choose(example) for example in examples[:12]] == [
            other.choose(example) for example in examples[:12]
        ]
    assert together[0].choose(known[0]) != together[3].choose(known[0])
