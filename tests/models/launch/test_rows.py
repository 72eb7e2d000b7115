"""What is learned from: log speeds that are centred within a kernel, over the right baseline."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.models.launch.case import MOST_ERROR
from coarsen.models.launch.training import coarsening_rows, local_size_rows
from coarsen.variant.variant import Variant
from tests.models.launch.made_up import case, log_time


def test_local_sizes_are_centred_within_each_kernel() -> None:
    rows = local_size_rows([case(0, 0.3), case(1, 0.9)])
    by_kernel: dict[str, list[float]] = {}
    for each, target in zip(rows.cases, rows.targets, strict=True):
        by_kernel.setdefault(each.kernel, []).append(target)
    assert [sum(targets) for targets in by_kernel.values()] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_a_coarsened_launch_is_compared_with_its_own_local_size_whatever_the_baseline_of_the_sweep() -> None:
    # Times are relative to another local size than the launch's own: that shifts all of them alike.
    measured = replace(case(0, 0.8), log_times=case(0, 0.8).log_times - 1.25)
    rows = coarsening_rows([measured])
    wanted = [
        log_time(0.8, Variant(variant.local_size)) - log_time(0.8, variant)
        for variant in measured.inputs.variants
        if variant.is_coarsened
    ]
    assert rows.targets == pytest.approx(wanted, abs=0.08)


def test_launches_without_a_time_or_a_baseline_are_no_rows() -> None:
    measured = case(0, 0.8)
    times = measured.log_times.copy()
    variants = measured.inputs.variants
    times[next(n for n, v in enumerate(variants) if v == Variant((64,)))] = np.nan
    rows = coarsening_rows([replace(measured, log_times=times)])
    expected = sum(variant.is_coarsened and variant.local_size != (64,) for variant in variants)
    assert len(rows) == expected


def test_a_single_local_size_says_nothing_of_local_sizes() -> None:
    measured = case(0, 0.8)
    own = [n for n, variant in enumerate(measured.inputs.variants) if variant.local_size == (256,)]
    alone = replace(measured, inputs=measured.inputs.only(own), log_times=measured.log_times[own])
    assert len(local_size_rows([alone])) == 0
    assert len(coarsening_rows([alone])) == len(own) - 1


def test_every_device_and_every_case_within_it_weighs_the_same() -> None:
    rows = coarsening_rows([case(0, 0.1), case(1, 0.2), case(2, 0.3, device="h200")])
    totals: dict[str, float] = {}
    for each, weight in zip(rows.cases, rows.weights, strict=True):
        totals[each.kernel] = totals.get(each.kernel, 0.0) + weight
    assert totals["made_up_0"] == pytest.approx(totals["made_up_1"])
    assert totals["made_up_2"] == pytest.approx(2 * totals["made_up_0"])


def test_rows_that_the_clock_can_not_tell_weigh_less_and_such_cases_judge_nothing() -> None:
    measured = case(0, 0.8)
    errors = np.zeros(len(measured.inputs.variants))
    errors[measured.inputs.is_coarsened] = MOST_ERROR
    noisy = replace(measured, errors=errors)
    rows = coarsening_rows([noisy, case(1, 0.8)])
    of_noisy = [weight for each, weight in zip(rows.cases, rows.weights, strict=True) if each is noisy]
    others = [weight for each, weight in zip(rows.cases, rows.weights, strict=True) if each is not noisy]
    assert sum(of_noisy) == pytest.approx(sum(others) / 2)
    assert noisy.is_certain and not replace(noisy, errors=2 * errors).is_certain
