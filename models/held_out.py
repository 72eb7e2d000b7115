"""Kernels by name that no model is fitted to: the second judge, the nests kept aside, and the calibration set.

The second judge and the nests kept aside judge models, so that nothing may learn from them. The calibration set,
of the kernels of free launch, is what decisions are calibrated on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from coarsen.errors import InvalidInputError

JUDGE_PREFIX = "judge-"


def is_judge(kernel: str) -> bool:
    """Return True for the name of a kernel of the second judge."""
    return kernel.startswith(JUDGE_PREFIX)


def refuse_judge(kernels: Iterable[str]) -> None:
    """Refuse to learn from the second judge. Raises InvalidInputError, which names the first of its kernels."""
    _refuse(filter(is_judge, kernels), "the second judge, and nothing may learn from those")


# Of each so many kernels of a seed, the last.
PERIOD = 10
_NAME = re.compile(r"(launch|nest)-[0-9]+-([0-9]+)")


def is_calibration(kernel: str) -> bool:
    """Return True for the name of a kernel of the calibration set: `launch-0-NUMBER`, each tenth number."""
    return _is_tenth(kernel, "launch")


def is_kept_aside(kernel: str) -> bool:
    """Return True for the name of a loop nest that only judges: `nest-0-NUMBER`, each tenth number."""
    return _is_tenth(kernel, "nest")


def _is_tenth(kernel: str, kind: str) -> bool:
    match = _NAME.fullmatch(kernel)
    return match is not None and match[1] == kind and int(match[2]) % PERIOD == PERIOD - 1


def refuse_held_out(kernels: Iterable[str]) -> None:
    """Refuse to fit a model to any of the three. Raises InvalidInputError, which names the first kernel."""
    known = tuple(kernels)
    refuse_judge(known)
    _refuse(filter(is_calibration, known), "the calibration set, which no model is fitted to")
    refuse_kept_aside(known)


def refuse_kept_aside(kernels: Iterable[str]) -> None:
    """Refuse to learn from the nests kept aside. Raises InvalidInputError, which names the first of them."""
    _refuse(filter(is_kept_aside, kernels), "the nests kept aside, and nothing may learn from those")


def _refuse(kernels: Iterable[str], what: str) -> None:
    for kernel in kernels:
        raise InvalidInputError(f"{kernel} is a kernel of {what}; leave it out")
