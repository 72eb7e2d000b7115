"""What the launch model expects of a launch's variants: at other local sizes too, and of work-groups."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.devices.selection import find_device
from coarsen.frontend.device_macros import PORTABLE
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.launch_prior import (
    LaunchModelPrior,
    launch_prior,
)
from coarsen.tuning.launch_space import lowered_own
from coarsen.user_models import user_models
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant
from tests.cli.small_launch_model import small_launch_model, store_small_launch_model

KERNEL = find_benchmark("launch-0-0")
SIZES = KERNEL.local_sizes_of("caches")
OWN = Variant(SIZES[0])


def prior() -> LaunchModelPrior:
    kernel = lowered_own(KERNEL, PORTABLE)
    found = launch_prior(KERNEL, "caches", find_device("intel"), OWN.local_size, small_launch_model(), kernel)
    assert isinstance(found, LaunchModelPrior)
    return found


def test_the_own_launch_is_as_fast_as_itself_and_others_differ() -> None:
    expected = prior()
    variants = [replace(OWN, local_size=size) for size in SIZES[1:]]
    variants += [Variant(SIZES[0], (Coarsening(2, level=Level.GROUP),)), Variant(SIZES[1], (Coarsening(2),))]
    assert expected(OWN) == 0.0
    assert len({expected(variant) for variant in variants}) > 1


def test_variants_that_are_prepared_together_are_as_expected_as_one_by_one() -> None:
    together, alone = prior(), prior()
    variants = [Variant(SIZES[0], (Coarsening(factor),)) for factor in (2, 4)]
    together.prepare(variants)
    assert abs(together(variants[0]) - alone(variants[0])) < 1.0
    assert together(variants[0]) == together(variants[0])


def test_what_can_not_be_planned_is_as_likely_faster_as_slower() -> None:
    expected = prior()
    wrong = Variant((7,) * len(SIZES[0]), (Coarsening(2, 2, level=Level.GROUP), Coarsening(5)))
    assert expected(wrong) == 0.0


def test_nothing_is_told_of_a_local_size_that_is_left_open() -> None:
    kernel = lowered_own(KERNEL, PORTABLE)
    assert launch_prior(KERNEL, "caches", find_device("intel"), (), small_launch_model(), kernel) is None


def test_the_tuner_asks_the_launch_model_of_devices_that_it_learned_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    device = find_device("intel")
    assert isinstance(launch_prior(KERNEL, "caches", device, OWN.local_size), LaunchModelPrior)
    store_small_launch_model(user_models())
    assert isinstance(launch_prior(KERNEL, "caches", device, OWN.local_size), LaunchModelPrior)
    other = replace(small_launch_model(), card={"data": {"cases": {"h200": 3}}})
    assert launch_prior(KERNEL, "caches", device, OWN.local_size, other) is None
    elsewhere = replace(device, name="chip", platform_name="platform")
    assert launch_prior(KERNEL, "caches", elsewhere, OWN.local_size) is None
