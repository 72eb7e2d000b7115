"""The fast path and lock-step, on and off: the uncoarsened kernel's results, on every device.

Devices and the emitted forms come by turns (`tests/selection.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import partial
from typing import Any

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.variant.coarsening import Configuration
from coarsen.variant.transforms import DeviceKind, Transforms, Use
from tests.selection import turns_by
from tests.transform.agreement_cases import AGREEMENT_CASES
from tests.transform.cases import CASES, Case
from tests.transform.harness import (
    assert_same,
    coarsened,
    coarsened_outcome,
    configurations,
    form_by_turns,
    is_left_out,
    original_outcome,
)
from tests.transform.test_hazards import works_on

CHOICES = {
    "always": Transforms(Use.ALWAYS, Use.ALWAYS),
    "always-for-cpu": Transforms(Use.ALWAYS, Use.ALWAYS, device_kind=DeviceKind.CPU),
    "fast-path": Transforms(Use.ALWAYS, Use.NEVER, clean_up=False),
    "lock-step": Transforms(Use.NEVER, Use.ALWAYS, clean_up=False),
    "neither": Transforms(Use.NEVER, Use.NEVER),
    "auto": Transforms(),
}


def combinations() -> list[Any]:
    """The cases of agreement with every choice; of all other hazards, "always" at one factor."""
    found = []
    for case in AGREEMENT_CASES:
        for dimension in case.dimensions:
            for index, chosen in enumerate(configurations(case, dimension)):
                name = list(CHOICES)[index % len(CHOICES)]
                found += [_parameters(case, chosen, name)]
            smallest = min(configurations(case, dimension))
            found += [_parameters(case, smallest, name) for name in CHOICES]
    for case in CASES:
        found.append(_parameters(case, max(configurations(case, case.dimensions[0])), "always"))
    return list({parameters.id: parameters for parameters in found}.values())


def _parameters(case: Case, chosen: Configuration, choice: str) -> Any:  # noqa: ANN401 (pytest's own type)
    name = f"{case.name}-{'-'.join(map(str, chosen))}-{choice}".replace(" ", "_")
    return pytest.param(case, chosen, choice, id=name)


COMBINATIONS = combinations()
_KEYS = [(param.values[0].name, *param.values[1:]) for param in COMBINATIONS]
TURNS = dict(zip(_KEYS, turns_by([key[0] for key in _KEYS]), strict=True))


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """As for the hazards."""
    case, device = parameters["case"], parameters["device"]
    turn = TURNS[case.name, parameters["chosen"], parameters["choice"]]
    return not is_left_out(device, turn, partial(works_on, case))


@pytest.mark.parametrize(("case", "chosen", "choice"), COMBINATIONS)
def test_same_results(
    case: Case, chosen: Configuration, choice: str, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    original = original_outcome(queue.context, case)
    form = form_by_turns(device, TURNS[case.name, chosen, choice])
    changed = coarsened(case, chosen, CHOICES[choice])
    assert_same(original, coarsened_outcome(queue, changed, form, case, chosen), case.tolerance)


def test_every_choice_is_tested_with_every_case_of_agreement() -> None:
    tested = {(parameters.values[0].name, parameters.values[2]) for parameters in COMBINATIONS}
    assert tested.issuperset(itertools.product((case.name for case in AGREEMENT_CASES), CHOICES))
