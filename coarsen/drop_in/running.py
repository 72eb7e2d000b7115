"""A run of an unmodified PyOpenCL program, whose programs from source are coarsened.

    script ─▶ pyopencl.Program is ours while it runs ─▶ its exit code, what was launched

Processes that it starts run plainly, whether they are started afresh or by a fork; so do launches of threads that
are there when the script has ended.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import pyopencl

from coarsen.base.bug_report import bug_message
from coarsen.devices.drivers import prepare_loader
from coarsen.drop_in.launch_table import LaunchRow, LaunchTable
from coarsen.drop_in.mode import Otherwise, remembered_in, with_guesses
from coarsen.drop_in.named_program import programs_are_coarsened
from coarsen.drop_in.script import Script, check_script, execute
from coarsen.errors import CoarsenError, InternalError
from coarsen.policy.remembered import Known, Remembered
from coarsen.runtime.advice import Decision, LaunchRequest, Policy
from coarsen.tuning.remembered.choice import RememberedChoice
from coarsen.tuning.settings import Tune
from coarsen.tuning.store.place import chosen_store, sqlite_file
from coarsen.variant.variant import Variant

_log = logging.getLogger("coarsen")

INTERRUPTED = 130


class RunResult(NamedTuple):
    """The outcome of a run.

    Attributes:
        exit_code: the program's; 130 if it was interrupted.
        rows: what was launched.
        found: the choices that were found and are remembered from now on.
        store: where choices are remembered, without a password.
        is_interrupted: whether the program was interrupted, by Ctrl-C.
    """

    exit_code: int
    rows: tuple[LaunchRow, ...]
    found: tuple[RememberedChoice, ...]
    store: str
    is_interrupted: bool = False

    @property
    def saved(self) -> float | None:
        """Return the estimated seconds saved, of the launches whose times are known; None if there are none."""
        known = [row.saved for row in self.rows if row.saved is not None]
        return sum(known) if known else None


class RunPolicy(Policy):
    """Decides for all programs of a run, and notes what was known; a `Policy` of `coarsen.runtime`.

    Args:
        remembered: knows.
        table: where it is noted.
    """

    def __init__(self, remembered: Remembered, table: LaunchTable) -> None:
        self._remembered = remembered
        self._table = table
        self.looks_at_arguments = remembered.looks_at_arguments

    def known_variants(self, request: LaunchRequest) -> Iterable[Variant]:
        """Return the variants of what is remembered."""
        try:
            return self._remembered.known_variants(request)
        except Exception:
            # The first launch says so, and the program goes on.
            return ()

    def choose(self, request: LaunchRequest) -> Decision | None:
        """Return what is remembered, or found now, else the launch as it is; None where it is to be predicted."""
        try:
            known = self._remembered.known(request)
        except InternalError as error:
            return self._failed(request, error)
        except (CoarsenError, pyopencl.Error) as error:
            return self._as_it_is(request, str(error))
        except Exception as error:
            # The program must not end of it: it knows nothing of this.
            return self._failed(request, error)
        self._table.note(request, known)
        return self._remembered.decision_of(known)

    def _failed(self, request: LaunchRequest, error: Exception) -> Decision:
        _log.warning("kernel %s stays as it is: %s", request.kernel, bug_message(error))
        return self._as_it_is(request, "an internal error of coarsen")

    def _as_it_is(self, request: LaunchRequest, reason: str) -> Decision:
        self._table.note(request, Known(None, reason))
        return Decision(Variant(), reason)


def run_program(script: Script, otherwise: Otherwise, settings: Tune | None = None) -> RunResult:
    """Run a program in this process.

    Args:
        script: the program.
        otherwise: what is done with launches of which nothing is remembered.
        settings: of tuning, and where choices are remembered; `Tune()` if None.

    Raises:
        InvalidInputError: there is no such program, or it isn't one in Python; the store's URL is malformed.
    """
    check_script(script)
    # Before the program's first question to OpenCL: drivers that pip installed are there for it, too.
    prepare_loader(is_for_program=True)
    # The program may go to another folder.
    chosen = _with_absolute_store(settings or Tune())
    store = _shown(str(chosen.store))
    table = LaunchTable()
    decides = RunPolicy(remembered_in(otherwise, chosen, says_reasons=False), table)
    policy = with_guesses(decides, otherwise) or decides
    is_interrupted = False
    with programs_are_coarsened(policy, table.observer):
        try:
            exit_code = execute(script)
        except KeyboardInterrupt:
            exit_code, is_interrupted = INTERRUPTED, True
    return RunResult(exit_code, table.rows(), table.found, store, is_interrupted)


def _with_absolute_store(settings: Tune) -> Tune:
    place = chosen_store(settings.store)
    return replace(settings, store=str(sqlite_file(place) or place))


def _shown(place: str) -> str:
    """Return a store's place without the password that a URL may have."""
    if "://" not in place:
        return place
    # Imported late: it loads SQLAlchemy.
    from coarsen.tuning.store.connection import shown, store_url

    return shown(store_url(place))
