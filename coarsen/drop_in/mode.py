"""The values of `tune`: what decides about kernels without a requested factor."""

from __future__ import annotations

import enum
import importlib.util

from coarsen.errors import InvalidInputError
from coarsen.policy.remembered import Remembered
from coarsen.runtime.advice import Policy
from coarsen.runtime.toolchain import Form
from coarsen.tuning.settings import Tune

# What `coarsen.Program` takes as `tune`.
TuneChoice = bool | str | Tune | None
REMEMBERED = "remembered"


class Otherwise(enum.Enum):
    """The way to go on with a launch of which nothing is remembered."""

    LEAVE = enum.auto()
    TUNE = enum.auto()


def mode_of(tune: object) -> tuple[Otherwise, Tune] | None:
    """Return what a value of `tune` stands for: the way to go on, and settings; None: kernels stay as they are.

    Args:
        tune: None or "remembered" for what is remembered, else the kernel as it is; True or `Tune(…)` for what is
            remembered, else a search; False for the kernel as it is.

    Raises:
        InvalidInputError: it is something else; a package that tuning needs is missing.
    """
    if tune is None or tune == REMEMBERED:
        return Otherwise.LEAVE, Tune()
    if tune is False:
        return None
    if tune is True or isinstance(tune, Tune):
        _check_packages()
        return Otherwise.TUNE, Tune() if tune is True else tune
    raise InvalidInputError(f"tune is True, False, 'remembered' or a coarsen.Tune, not {tune!r}")


def versions_mode(tune: object) -> tuple[Otherwise, Tune] | None:
    """Return what a value of `tune` stands for where versions are chosen.

    Args:
        tune: as `mode_of` takes it, but None stands for no look at what is remembered.

    Raises:
        InvalidInputError: as `mode_of`.
    """
    return None if tune is None else mode_of(tune)


def policy_of(tune: TuneChoice | Policy, requested: Policy | None, form: Form) -> Policy | None:
    """Return what decides about kernels; None where they stay as they are.

    Args:
        tune: as `mode_of` takes it, or a policy.
        requested: decides as is asked for; None where nothing is.
        form: of the code: nothing is measured, and so remembered, of another than OpenCL C.

    Raises:
        InvalidInputError: as `mode_of`; something to tune beside a factor.
    """
    mode = None if isinstance(tune, Policy) else mode_of(tune)
    if requested is not None and tune is not None and mode is not None:
        raise InvalidInputError("a factor is given or found by tuning: leave out factor or tune")
    policy = requested or (tune if isinstance(tune, Policy) else None)
    if policy is None and mode is not None:
        otherwise, settings = mode
        if form == "opencl_c" and otherwise is Otherwise.TUNE:
            # Imported late: a program that remembers measures nothing.
            from coarsen.drop_in.search import SearchNow

            policy = SearchNow(settings)
        elif form == "opencl_c":
            policy = Remembered(settings)
    return policy


def _check_packages() -> None:
    if importlib.util.find_spec("sqlalchemy") is None:
        raise InvalidInputError("tuning needs more packages: pip install 'coarsen[tune]'")
