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


def policy_of(tune: TuneChoice | Policy, factor: object, form: Form, by_nearest: bool = False) -> Policy | None:
    """Return what decides about kernels without a requested factor; None where they stay as they are.

    Args:
        tune: as `mode_of` takes it, or a policy.
        factor: as a program is given it; None if it is given none.
        form: of the code: nothing is measured, and so remembered, of another than OpenCL C.
        by_nearest: whether what is remembered of the nearest size goes before all else.

    Raises:
        InvalidInputError: as `mode_of`; something to tune, or by the nearest size, beside a factor.
    """
    if by_nearest and (factor is not None or form != "opencl_c"):
        raise InvalidInputError(
            "what is remembered goes with no factor, and with OpenCL C: leave out factor and form"
        )
    if isinstance(tune, Policy):
        policy: Policy | None = tune
    else:
        mode = mode_of(tune)
        if tune is not None and mode is not None and factor is not None:
            raise InvalidInputError("a factor is given or found by tuning: leave out factor or tune")
        policy = None if mode is None or factor is not None else policy_in(mode, form)
    if not by_nearest:
        return policy
    # Imported late: most programs have only one policy.
    from coarsen.policy.nearest import Nearest
    from coarsen.policy.predicted import FirstOf

    nearest = Nearest(tune if isinstance(tune, Tune) else Tune())
    return nearest if policy is None else FirstOf(nearest, policy)


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


def _check_packages() -> None:
    if importlib.util.find_spec("sqlalchemy") is None:
        raise InvalidInputError("tuning needs more packages: pip install 'coarsen[tune]'")
