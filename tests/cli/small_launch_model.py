"""A small launch model: made-up kernels of a known law on two CPUs."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

from coarsen.models.launch.case import LaunchCase
from coarsen.models.launch.model import LaunchModel
from coarsen.models.launch.storage import cases_by_device, save_launch
from coarsen.models.launch.training import train_launch
from tests.models.launch.made_up import SMALL, cases


def store_small_launch_model(folder: Path, identities: dict[str, str] | None = None) -> Path:
    """Store the model in a folder; its card says that it learned from kernels of these identities, too."""
    learned = learned_from()
    known = {each.kernel: each.identity for each in learned} | (identities or {})
    facts = {"date": "2030-01-02", "data": {"cases": cases_by_device(learned), "identities": known}}
    save_launch(small_launch_model(), facts, folder)
    return folder


@functools.cache
def small_launch_model() -> LaunchModel:
    """The model, fitted once."""
    model = train_launch(learned_from(), cases(8, first=100), SMALL).model
    return replace(model, card={"data": {"cases": cases_by_device(learned_from())}})


@functools.cache
def learned_from() -> tuple[LaunchCase, ...]:
    """What it is fitted on."""
    return (*cases(10), *cases(4, first=40, device="pocl"))
