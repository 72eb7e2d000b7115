"""No model is fitted to the calibration set, whoever gives it examples of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.cascade.training import fit_cascade
from coarsen.models.held_out import is_calibration, refuse_calibration
from tests.models.evaluation.made_up import made_up_examples

MESSAGE = "launch-0-19 is a kernel of the calibration set, which no model is fitted to; leave it out"


def test_each_tenth_kernel_is_one() -> None:
    assert [number for number in range(40) if is_calibration(f"launch-0-{number}")] == [9, 19, 29, 39]
    assert is_calibration("launch-3-1009")
    assert not is_calibration("synthetic-0-9") and not is_calibration("mt") and not is_calibration("launch-0-9.cl")
    refuse_calibration(["mt", "launch-0-18"])


def test_models_refuse_them() -> None:
    first, *others = made_up_examples(4, seed=1)
    examples = [replace(first, kernel="launch-0-19"), *others]
    with pytest.raises(InvalidInputError, match=MESSAGE):
        fit_cascade(examples, 0)
