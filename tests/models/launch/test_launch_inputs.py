"""The inputs of launches: as many as there are names, finite, also of devices that nobody calibrated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.cost.work_counts import LaunchSizes, padded
from coarsen.models.launch.case import LaunchInputs, launch_inputs
from coarsen.models.launch.device import LaunchDevice
from coarsen.models.launch.inputs import COARSENING_INPUTS, LOCAL_SIZE_INPUTS, PLACE_NAMES
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.models.launch.made_up import MadeUpPlanner, device_called

VARIANTS = (Variant((64,)), Variant((128,)), Variant((64,), (Coarsening(4),)))


def inputs_on(device: LaunchDevice) -> LaunchInputs:
    planner = MadeUpPlanner(0.5)
    sizes = {variant: LaunchSizes(padded((4096,)), padded(variant.local_size)) for variant in VARIANTS}
    return launch_inputs({variant: planner.planned(variant, sizes[variant], {}) for variant in VARIANTS}, device)


@pytest.mark.parametrize("has_profile", [True, False])
def test_inputs_are_as_many_as_their_names_and_finite(has_profile: bool) -> None:
    known = device_called("intel")
    found = inputs_on(known if has_profile else replace(known, profile=None))
    assert found.coarsened.shape == (3, len(COARSENING_INPUTS))
    assert found.local.shape == (2, len(LOCAL_SIZE_INPUTS))
    assert found.place.shape == (len(PLACE_NAMES),)
    assert np.isfinite(found.coarsened).all() and np.isfinite(found.local).all()
    assert np.isfinite(found.analytic).all() == has_profile


def test_what_a_profile_is_unknown_for_is_said_to_the_trees() -> None:
    place = COARSENING_INPUTS.index(("analytic", "profile is known"))
    known = device_called("intel")
    found = [inputs_on(device).coarsened[2, place] for device in (known, replace(known, profile=None))]
    assert found == [1.0, 0.0]


def test_what_depends_on_the_local_size_stands_there_less_its_mean() -> None:
    found = inputs_on(device_called("intel"))
    plain = LOCAL_SIZE_INPUTS.index(("launch", "group size"))
    relative = LOCAL_SIZE_INPUTS.index(("launch", "group size, less the mean"))
    assert found.local[:, plain].tolist() == [6.0, 7.0]
    assert found.local[:, relative].tolist() == [-0.5, 0.5]
