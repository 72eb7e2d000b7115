"""Kernels by name that no model is fitted to: the second judge, and the calibration set.

The second judge judges models, so that nothing may learn from it. The calibration set, of the kernels of free
launch, is what decisions are calibrated on.
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
CALIBRATION_PERIOD = 10
_NAME = re.compile(r"launch-[0-9]+-([0-9]+)")


def is_calibration(kernel: str) -> bool:
    """Return True for the name of a kernel of the calibration set: `launch-0-NUMBER`, each tenth number."""
    match = _NAME.fullmatch(kernel)
    return match is not None and int(match[1]) % CALIBRATION_PERIOD == CALIBRATION_PERIOD - 1


def refuse_calibration(kernels: Iterable[str]) -> None:
    """Refuse to fit a model to the calibration set. Raises InvalidInputError, which names its first kernel."""
    _refuse(filter(is_calibration, kernels), "the calibration set, which no model is fitted to")


def _refuse(kernels: Iterable[str], what: str) -> None:
    for kernel in kernels:
        raise InvalidInputError(f"{kernel} is a kernel of {what}; leave it out")
