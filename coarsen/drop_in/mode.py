"""How a program chooses for kernels without a requested factor: the values of `tune`."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.tuning.settings import Tune

# What `coarsen.Program` takes as `tune`.
TuneChoice = bool | str | Tune | None
REMEMBERED = "remembered"


class Otherwise(enum.Enum):
    """What is done with a launch of which nothing is remembered."""

    PREDICT = enum.auto()
    LEAVE = enum.auto()
    TUNE = enum.auto()


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to choose.

    Attributes:
        otherwise: for launches of which nothing is remembered.
        settings: of tuning; where things are remembered counts for the others too.
    """

    otherwise: Otherwise
    settings: Tune


def mode_of(tune: TuneChoice) -> Mode | None:
    """Return the mode that a value of `tune` stands for; None where nothing but the prediction counts.

    Args:
        tune: None for what is remembered, else the prediction; "remembered" for that, else the kernel as it is;
            True or `Tune(…)` for what is remembered, else a search; False for the prediction alone.

    Raises:
        InvalidInputError: it is something else.
    """
    if tune is None:
        return Mode(Otherwise.PREDICT, Tune())
    if isinstance(tune, Tune):
        return Mode(Otherwise.TUNE, tune)
    if isinstance(tune, bool):
        return Mode(Otherwise.TUNE, Tune()) if tune else None
    if tune == REMEMBERED:
        return Mode(Otherwise.LEAVE, Tune())
    raise InvalidInputError(f"tune is True, False, 'remembered' or a coarsen.Tune, not {tune!r}")
