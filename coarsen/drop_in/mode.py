"""The values of `tune`: what decides about kernels without a requested factor."""

from __future__ import annotations

import enum
import importlib.util
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.policy.remembered import Remembered
from coarsen.runtime.advice import Policy
from coarsen.runtime.toolchain import Form
from coarsen.tuning.settings import Tune

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


def mode_of(tune: object) -> Mode | None:
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


def policy_of(tune: TuneChoice | Policy, factor: object, form: Form) -> Policy | None:
    """Return what decides about kernels without a requested factor; None where they stay as they are.

    Args:
        tune: as `mode_of` takes it, or a policy.
        factor: as a program is given it; None if it is given none.
        form: of the code: nothing is measured, and so remembered, of another than OpenCL C.

    Raises:
        InvalidInputError: as `mode_of`; something to tune beside a factor.
    """
    if tune is not None and not isinstance(tune, bool | str | Tune) and hasattr(tune, "choose"):
        return tune
    mode = mode_of(tune)
    if tune is not None and mode is not None and factor is not None:
        raise InvalidInputError("a factor is given or found by tuning: leave out factor or tune")
    if mode is None or factor is not None:
        return None
    return policy_in(mode, form)


def policy_in(mode: Mode, form: Form) -> Policy | None:
    """Return what decides in a mode, about code of a form; None where kernels stay as they are."""
    if mode.otherwise is Otherwise.PREDICT:
        # Imported late: most programs predict nothing.
        from coarsen.policy.predicted import FirstOf, Predicted

        return (
            FirstOf(Remembered(mode.settings, is_last=False), Predicted()) if form == "opencl_c" else Predicted()
        )
    if form != "opencl_c":
        return None
    if mode.otherwise is Otherwise.LEAVE:
        return Remembered(mode.settings)
    # Imported late: a program that remembers measures nothing.
    from coarsen.drop_in.search import SearchNow

    return SearchNow(mode.settings)


def settings_of(tune: TuneChoice | Policy) -> Tune:
    """Return the settings that a value of `tune` has: those by default where it has none."""
    return tune if isinstance(tune, Tune) else Tune()


def _check_packages() -> None:
    if importlib.util.find_spec("sqlalchemy") is None:
        raise InvalidInputError("tuning needs more packages: pip install 'coarsen[tune]'")
