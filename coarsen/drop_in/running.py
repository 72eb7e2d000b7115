"""A run of an unmodified PyOpenCL program, whose programs from source are coarsened.

    script ─▶ pyopencl.Program is ours while it runs ─▶ its exit code, what was launched, what was recorded

Processes that it starts run plainly, whether they are started afresh or by a fork; so do launches of threads that
are there when the script has ended.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path

import pyopencl

from coarsen.bug_report import bug_message
from coarsen.devices.drivers import prepare_loader
from coarsen.drop_in.advisor import Known, TuningAdvisor
from coarsen.drop_in.launch_table import LaunchRow, LaunchTable
from coarsen.drop_in.mode import Mode, Otherwise
from coarsen.drop_in.named_program import ObserverOf, programs_are_coarsened
from coarsen.drop_in.recorder import MOST_BYTES, Contents, Recorded, Recorder, RecordingObserver, checked_folder
from coarsen.drop_in.script import Script, check_script, execute
from coarsen.errors import CoarsenError, InternalError, InvalidInputError
from coarsen.opencl_bench.results.remembered.choice import RememberedChoice
from coarsen.opencl_bench.results.store.place import chosen_store, sqlite_file
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.runtime.advice import Advice, AdviceRequest
from coarsen.variant.variant import Variant

_log = logging.getLogger("coarsen")

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Recording:
    """Where launches are recorded, what their buffers may hold in all, in bytes, and whose contents are wanted."""

    folder: Path
    most_bytes: int = MOST_BYTES
    contents: Contents = Contents.CLASS


@dataclass(frozen=True, slots=True)
class RunResult:
    """The outcome of a run.

    Attributes:
        exit_code: the program's; 130 if it was interrupted.
        rows: what was launched.
        found: the choices that were found and are remembered from now on.
        store: where choices are remembered, without a password.
        recorded: the workloads that were written.
        not_recorded: a sentence for each launch that could not be recorded.
        is_interrupted: whether the program was interrupted, by Ctrl-C.
        launch_list: the list of what all launches passed; None where none was written.
    """

    exit_code: int
    rows: tuple[LaunchRow, ...]
    found: tuple[RememberedChoice, ...]
    store: str
    recorded: tuple[Recorded, ...]
    not_recorded: tuple[str, ...]
    is_interrupted: bool = False
    launch_list: Path | None = None

    @property
    def saved(self) -> float | None:
        """Return the estimated seconds saved, of the launches whose times are known; None if there are none."""
        known = [row.saved for row in self.rows if row.saved is not None]
        return sum(known) if known else None


class RunAdvisor:
    """Advises all programs of a run, and notes what it knew; an `Advisor` of `coarsen.runtime`.

    Args:
        advisor: knows.
        table: where it is noted.
        recorder: records launches first; None for none.
    """

    def __init__(self, advisor: TuningAdvisor, table: LaunchTable, recorder: Recorder | None) -> None:
        self._advisor = advisor
        self._table = table
        self._recorder = recorder

    @property
    def looks_at_arguments(self) -> bool:
        """Return True if launches are tuned or captured."""
        captures = self._recorder is not None and self._recorder.captures
        return captures or self._advisor.looks_at_arguments

    def advise(self, request: AdviceRequest) -> Advice | None:
        """Return what is remembered, or found now, else the launch as it is; None where the mode is to predict."""
        try:
            if self._recorder is not None:
                self._recorder.record(request)
            known = self._advisor.known(request)
        except InternalError as error:
            return self._failed(request, error)
        except (CoarsenError, pyopencl.Error) as error:
            return self._as_it_is(request, str(error))
        except Exception as error:
            # The program must not end of it: it knows nothing of this.
            return self._failed(request, error)
        self._table.note(request, known)
        return self._advisor.advice_of(known)

    def _failed(self, request: AdviceRequest, error: Exception) -> Advice:
        _log.warning("kernel %s stays as it is: %s", request.kernel, bug_message(error))
        return self._as_it_is(request, "an internal error of coarsen")

    def _as_it_is(self, request: AdviceRequest, reason: str) -> Advice:
        self._table.note(request, Known(None, reason))
        return Advice(Variant(), reason)


def run_program(
    script: Script, otherwise: Otherwise, settings: Tune | None = None, recording: Recording | None = None
) -> RunResult:
    """Run a program in this process.

    Args:
        script: the program.
        otherwise: what is done with launches of which nothing is remembered.
        settings: of tuning, and where choices are remembered; `Tune()` if None.
        recording: whether launches are recorded; None for not at all.

    Raises:
        InvalidInputError: there is no such program, or it isn't one in Python; the folder is none; the store's URL
            is malformed.
    """
    check_script(script)
    # Before the program's first question to OpenCL: drivers that pip installed are there for it, too.
    prepare_loader()
    # The program may go to another folder.
    chosen = _with_absolute_store(settings or Tune())
    store = _shown(str(chosen.store))
    recorder = None
    if recording is not None:
        recorder = Recorder(checked_folder(recording.folder), recording.most_bytes, recording.contents)
    table = LaunchTable()
    # The table has the reasons.
    advisor = RunAdvisor(TuningAdvisor(Mode(otherwise, chosen), says_reasons=False), table, recorder)
    is_interrupted = False
    with programs_are_coarsened(advisor, _observer_of(table, recorder), otherwise is Otherwise.PREDICT):
        try:
            exit_code = execute(script)
        except KeyboardInterrupt:
            exit_code, is_interrupted = INTERRUPTED, True
    rows = table.rows()
    launch_list, problems = _listed(recorder)
    return RunResult(
        exit_code,
        rows,
        table.found,
        store,
        () if recorder is None else tuple(recorder.recorded),
        () if recorder is None else (*recorder.skipped, *recorder.missed(rows), *problems),
        is_interrupted,
        launch_list,
    )


def _observer_of(table: LaunchTable, recorder: Recorder | None) -> ObserverOf:
    if recorder is None:
        return table.observer
    return lambda source: RecordingObserver(table, source, recorder)


def _listed(recorder: Recorder | None) -> tuple[Path | None, tuple[str, ...]]:
    """The list of launches that is written now, and what is to be said where that fails."""
    if recorder is None:
        return None, ()
    try:
        return recorder.passed.write(), ()
    except InvalidInputError as error:
        return None, (f"the launches are not listed: {error}",)


def _with_absolute_store(settings: Tune) -> Tune:
    place = chosen_store(settings.store)
    return replace(settings, store=str(sqlite_file(place) or place))


def _shown(place: str) -> str:
    """Return a store's place without the password that a URL may have."""
    if "://" not in place:
        return place
    # Imported late: it loads SQLAlchemy.
    from coarsen.opencl_bench.results.store.connection import shown, store_url

    return shown(store_url(place))
