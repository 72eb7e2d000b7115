"""No model is fitted to the calibration set or to the nests kept aside, whoever gives it examples of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.cascade.training import fit_cascade
from coarsen.models.held_out import is_calibration, is_kept_aside, refuse_held_out
from tests.models.evaluation.made_up import made_up_examples

MESSAGE = "launch-0-19 is a kernel of the calibration set, which no model is fitted to; leave it out"


def test_each_tenth_kernel_is_one() -> None:
    assert [number for number in range(40) if is_calibration(f"launch-0-{number}")] == [9, 19, 29, 39]
    assert is_calibration("launch-3-1009")
    assert not is_calibration("synthetic-0-9") and not is_calibration("mt") and not is_calibration("launch-0-9.cl")
    refuse_held_out(["mt", "launch-0-18", "nest-0-18"])


def test_each_tenth_nest_is_kept_aside() -> None:
    assert [number for number in range(40) if is_kept_aside(f"nest-0-{number}")] == [9, 19, 29, 39]
    assert not is_kept_aside("launch-0-9") and not is_calibration("nest-0-9")


def test_models_refuse_them() -> None:
    first, *others = made_up_examples(4, seed=1)
    kept_aside = "nest-0-19 is a kernel of the nests kept aside"
    for kernel, message in (("launch-0-19", MESSAGE), ("nest-0-19", kept_aside)):
        examples = [replace(first, kernel=kernel), *others]
        with pytest.raises(InvalidInputError, match=message):
            fit_cascade(examples, 0)
