"""Predicted break-even points against those of made-up rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.analytic.profile_json import read_profile
from coarsen.models.analytic.profiles import SHIPPED
from coarsen.opencl_bench.inputs.predicted_times import PredictedTimes
from coarsen.opencl_bench.studies import input_break_evens
from coarsen.opencl_bench.studies.input_break_evens import ANCHORS, MODEL, TREE, lines, modelled, profile_of
from coarsen.opencl_bench.studies.input_rows import StoredKernel, of_rows
from coarsen.opencl_bench.workloads.lookup import adaptive_kernel
from tests.opencl_bench.studies.adaptive_rows import crossing, rows_of

KERNEL = adaptive_kernel("adaptive-dwtHaar1D")
INTEL = read_profile(SHIPPED / "intel.json")


@pytest.fixture(scope="module")
def stored() -> StoredKernel:
    (found,) = of_rows(KERNEL, rows_of(KERNEL, crossing))
    return found


def predicting(monkeypatch: pytest.MonkeyPatch, stored: StoredKernel, late: int, factor: float) -> None:
    """Let the model change its mind so many inputs too late, and err by a factor."""
    ranks = np.argsort(np.argsort([KERNEL.listed[point.name]["length"] for point in stored.times.inputs]))
    seconds = [
        [factor * crossing(version, row - late if row >= 7 else row) for version in range(len(KERNEL.versions))]
        for row in ranks.tolist()
    ]
    bounds = tuple(("memory",) * len(KERNEL.versions) for _ in seconds)
    found = PredictedTimes(np.array(seconds), bounds)
    monkeypatch.setattr(input_break_evens, "predicted_times", lambda *_: found)


def test_a_model_that_is_right_finds_the_point(stored: StoredKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    predicting(monkeypatch, stored, late=0, factor=1e-9)
    found = modelled(stored, INTEL, MODEL)
    assert found.errors.absolute == pytest.approx(0.0, abs=1e-6)
    assert found.errors.predicted == 1.0
    for by in (MODEL, TREE):
        assert [pair.error for pair in found.points[by].matched] == [0.0]
        assert (found.points[by].missed, found.points[by].invented, found.regrets[by]) == (0, 0, (0.0,))


def test_a_model_that_is_late_errs_by_octaves_and_loses_between(
    stored: StoredKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    predicting(monkeypatch, stored, late=3, factor=2e-9)
    found = modelled(stored, INTEL, MODEL)
    assert found.errors.absolute > 0.5
    (pair,) = found.points[MODEL].matched
    # Sizes are powers of two, and it changes its mind three inputs too late.
    assert 2.0 <= pair.error <= 3.0
    (lost,) = found.regrets[MODEL]
    assert 0.5 < lost <= math.log(3) + 1e-9
    told = [*lines([found], MODEL, is_gpu=False)]
    assert any(line.startswith("| adaptive-dwtHaar1D | model | 1 | 0 | 0 | 0 |") for line in told)
    assert any(line.startswith("| all (must: 1.0, 2.0, 5%) | model | 1 |") for line in told)


def test_anchors_mend_a_factor_and_are_not_judged(stored: StoredKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    predicting(monkeypatch, stored, late=0, factor=7e-9)
    assert modelled(stored, INTEL, MODEL).errors.absolute == pytest.approx(6.0)
    assert modelled(stored, INTEL, ANCHORS).errors.absolute == pytest.approx(0.0, abs=1e-6)


def test_points_by_anchors_are_judged_between_the_other_inputs(
    stored: StoredKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    predicting(monkeypatch, stored, late=0, factor=7e-9)
    # The last input at which the second version is the fastest is an anchor: the next one is two octaves away.
    for by, ill_defined in ((MODEL, 0), (ANCHORS, 1)):
        found = modelled(stored, INTEL, by)
        assert [found.points[name].ill_defined for name in (by, TREE)] == [ill_defined] * 2


def test_the_profile_is_the_device_s(stored: StoredKernel) -> None:
    assert profile_of(stored, None).name == "intel"
    assert profile_of(stored, "pocl").name == "pocl"
    with pytest.raises(InvalidInputError, match="no profile 'none'"):
        profile_of(stored, "none")
