"""No model learns from the second judge's kernels, whoever gives it examples of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.cascade.training import fit_cascade
from coarsen.models.held_out import is_judge, refuse_judge
from coarsen.models.launch.training import train_launch
from tests.models.evaluation.made_up import made_up_examples
from tests.models.launch.made_up import SMALL, cases

MESSAGE = "judge-heat_plate is a kernel of the second judge, and nothing may learn from those; leave it out"


def test_names() -> None:
    assert is_judge("judge-heat_plate")
    assert not is_judge("heat_plate") and not is_judge("synthetic-0-0")
    refuse_judge(["mt", "synthetic-0-0"])
    with pytest.raises(InvalidInputError, match=MESSAGE):
        refuse_judge(["mt", "judge-heat_plate"])


def test_models_refuse_them() -> None:
    first, *others = made_up_examples(4, seed=1)
    examples = [replace(first, kernel="judge-heat_plate"), *others]
    with pytest.raises(InvalidInputError, match=MESSAGE):
        fit_cascade(examples, 0)


def test_the_launch_model_is_not_calibrated_on_them() -> None:
    first, *others = cases(4)
    with pytest.raises(InvalidInputError, match=MESSAGE):
        train_launch(others, [replace(first, kernel="judge-heat_plate")], SMALL)
