"""The launch to use for a kernel: at its sizes, or at usual ones; both speed-ups; what is not known is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.errors import DeviceError, InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.models.launch import Risk
from coarsen.models.launch.prediction import LaunchPrediction
from coarsen.prediction import AskedLaunch, own_launch, predict_by_launch_model, predict_launch
from coarsen.targets import target_of
from coarsen.user_models import user_models
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.cli.small_launch_model import small_launch_model, store_small_launch_model

SUM = """\
kernel void sum(global const float *values, global float *sums, int count)
{
    int item = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < count; k++)
        sum += values[k];
    sums[item] = sum;
}
"""
TILE = """\
kernel void tile(global float *values)
{
    local float tile[64];
    tile[get_local_id(0)] = values[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    values[get_global_id(0)] = tile[63 - get_local_id(0)];
}
"""


def kernel(source: str = SUM) -> Kernel:
    return lower(source)


UNKNOWN = AskedLaunch()


def predicted(asked: AskedLaunch = UNKNOWN, source: str = SUM, risk: Risk = Risk.BOLD) -> LaunchPrediction:
    return predict_launch(kernel(source), small_launch_model(), target_of("intel"), asked, risk)


def test_the_choice_is_a_launch_of_the_grid_with_both_speed_ups() -> None:
    found = predicted(AskedLaunch((64,), (4096,), {"count": 256}))
    assert found.launches[0].variant == found.own == Variant((64,))
    assert found.launches[0].over_own.value == 1.0
    for launch in found.launches:
        for ratio in (launch.over_best, launch.over_own):
            assert ratio.low <= ratio.high
        assert 0 <= launch.chance <= 1
    assert found.fallback.variant == Variant((128,)), "the local size that was best for the made-up kernels"
    assert not found.sizes_are_assumed and not found.unknown


def test_with_its_sizes_only_launches_that_divide_them_are_considered() -> None:
    found = predicted(AskedLaunch((64,), (192,)))
    assert all(192 % launch.variant.local_size[0] == 0 for launch in found.launches)
    assert not any(launch.multiple_of for launch in found.launches)


def test_without_sizes_conditions_and_what_is_not_known_are_named() -> None:
    found = predicted()
    assert found.sizes_are_assumed
    assert found.unknown == ("the argument count, on which work depends",)
    conditional = {launch.variant.local_size for launch in found.launches if launch.multiple_of}
    assert (512,) in conditional
    assert not found.launches[0].multiple_of


def test_a_kernel_that_knows_its_groups_keeps_its_local_size() -> None:
    found = predicted(AskedLaunch((64,)), TILE)
    assert {launch.variant.local_size for launch in found.launches} == {(64,)}


def test_each_risk_has_its_choice_and_no_risk_falls_back_on_the_own_launch() -> None:
    found = predicted(AskedLaunch((256,), (65536,), {"count": 1}), risk=Risk.CAUTIOUS)
    assert set(found.choices) == set(Risk)
    assert found.choices[Risk.CAUTIOUS] == found.choice
    assert found.fallback.variant.local_size == (128,)


def test_reasons_are_inputs_and_neighbours_training_kernels() -> None:
    found = predicted()
    assert found.influences and all(influence.name for influence in found.influences)
    assert all(near.kernel.startswith("made_up_") for near in found.nearest)


@pytest.mark.parametrize("other", ["h200", "tahiti"])
def test_nothing_is_predicted_for_a_device_that_it_did_not_learn_from(other: str) -> None:
    with pytest.raises(DeviceError, match=f"no model of {other} .*: the launch model learned from intel, pocl;"):
        predict_launch(kernel(), small_launch_model(), target_of(other), AskedLaunch())


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (AskedLaunch((48,), (100,)), "the local size 48 does not divide the global size 100"),
        (AskedLaunch((0,)), "a local size is one to three numbers of at least 1, not 0"),
    ],
)
def test_launches_that_can_not_be(asked: AskedLaunch, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        own_launch(kernel(), asked)


def test_a_local_size_that_the_kernel_requires() -> None:
    source = SUM.replace("kernel void", "kernel __attribute__((reqd_work_group_size(32, 1, 1))) void")
    assert own_launch(kernel(source), AskedLaunch()).local_size == (32,)
    with pytest.raises(InvalidInputError, match="the kernel sum requires the local size 32×1×1, not 64"):
        own_launch(kernel(source), AskedLaunch((64,)))


@pytest.mark.parametrize("dimension", [None, 0])
def test_factors_alone_leave_the_rest_of_the_launch_as_it_is(dimension: int | None) -> None:
    found = predicted(AskedLaunch((64,), dimension=dimension, factors_only=True))
    factors = (2, 4, 8, 16)
    assert [each.variant.coarsenings for each in found.launches] == [
        (),
        *((Coarsening(each),) for each in factors),
    ]
    assert {each.variant.local_size for each in found.launches} == {(64,)}
    assert (found.factor, found.dimension) == (found.chosen.variant.factor, 0)
    whole = predicted(AskedLaunch((64,)))
    gains = {each.variant: each.over_own for each in whole.launches}
    assert all(each.over_own == gains[each.variant] for each in found.launches), "as among all launches"


def test_the_launch_model_answers_and_first_that_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    found = predict_by_launch_model(lower(SUM, "sum"), "intel", None, (64,))
    assert found.factor in (1, 2, 4, 8, 16) and found.nearest[0].kernel.startswith(("synthetic-", "launch-"))
    for device in ("tahiti", "fermi"):
        with pytest.raises(DeviceError, match=f"there is no model of {device}"):
            predict_by_launch_model(lower(SUM, "sum"), device)
    store_small_launch_model(user_models())
    after = predict_by_launch_model(lower(SUM, "sum"), "intel", None, (64,))
    assert after.nearest[0].kernel.startswith("made_up_")
