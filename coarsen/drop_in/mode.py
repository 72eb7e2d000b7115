"""The values of `tune`: what decides about kernels without a requested factor."""

from __future__ import annotations

import enum
import importlib.util
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.tuning.settings import Tune

# What `coarsen.Program` takes as `tune`.
TuneChoice = bool | str | Tune | None
REMEMBERED = "remembered"
PREDICT = "predict"


class Otherwise(enum.Enum):
    """The way to go on with a launch of which nothing is remembered."""

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
    """Return the mode that a value of `tune` stands for; None where kernels stay as they are.

    Args:
        tune: None or "remembered" for what is remembered, else the kernel as it is; True or `Tune(…)` for what is
            remembered, else a search; "predict" for what is remembered, else a predicted factor, which nobody
            measured; False for the kernel as it is.

    Raises:
        InvalidInputError: it is something else; a package that tuning needs is missing.
    """
    if tune is None or tune == REMEMBERED:
        return Mode(Otherwise.LEAVE, Tune())
    if tune is False:
        return None
    if tune is True or isinstance(tune, Tune):
        _check_packages()
        return Mode(Otherwise.TUNE, Tune() if tune is True else tune)
    if tune == PREDICT:
        return Mode(Otherwise.PREDICT, Tune())
    raise InvalidInputError(f"tune is True, False, 'remembered', 'predict' or a coarsen.Tune, not {tune!r}")


def _check_packages() -> None:
    if importlib.util.find_spec("sqlalchemy") is None:
        raise InvalidInputError("tuning needs more packages: pip install 'coarsen[tune]'")
