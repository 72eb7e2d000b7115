"""The calibration set: kernels of free launch that decisions are calibrated on, and nothing is fitted to."""

from __future__ import annotations

import re
from collections.abc import Iterable

from coarsen.errors import InvalidInputError

# Of each so many kernels of a seed, the last.
CALIBRATION_PERIOD = 10
_NAME = re.compile(r"launch-[0-9]+-([0-9]+)")


def is_calibration(kernel: str) -> bool:
    """Return True for the name of a kernel of the calibration set: `launch-SEED-NUMBER`, each tenth number."""
    match = _NAME.fullmatch(kernel)
    return match is not None and int(match[1]) % CALIBRATION_PERIOD == CALIBRATION_PERIOD - 1


def refuse_calibration(kernels: Iterable[str]) -> None:
    """Refuse to fit a model to the calibration set. Raises InvalidInputError, which names its first kernel."""
    for kernel in kernels:
        if is_calibration(kernel):
            raise InvalidInputError(
                f"{kernel} is a kernel of the calibration set, which no model is fitted to; leave it out"
            )
