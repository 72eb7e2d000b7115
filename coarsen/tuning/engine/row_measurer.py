"""Measures one configuration at a time: compiled, verified, timed against a baseline, stored as a row.

Where the code comes from and where the rows go is left open: a sweep compiles and has a database, a pack brings
its code along and writes a file. Needs nothing but Python, NumPy and the device's own package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InternalError
from coarsen.tuning.engine.observer import SweepObserver
from coarsen.tuning.engine.plan import SweepPlan
from coarsen.tuning.engine.speedups import is_uncertain
from coarsen.tuning.measure.machine import Versions, environment_of
from coarsen.tuning.measure.session import DEFAULT_VERSION, UNCOARSENED
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.processes.compiler import Compiled, CompiledSubjects, Compiler
from coarsen.tuning.processes.device_lock import device_lock
from coarsen.tuning.processes.measuring_process import Limits, MeasuringProcess, Outcome, Ready
from coarsen.tuning.progress import Remeasure
from coarsen.tuning.records.measurement import (
    CheckedAgainst,
    Environment,
    Invalidity,
    Measurement,
    Method,
    Role,
    Subject,
    content_key,
    timed_seconds_of,
)
from coarsen.tuning.workload.benchmark import Benchmark, Clock
from coarsen.variant.variant import Definitions, Variant


class RowMeasurer:
    """Gives rows of one benchmark on one device: from the store, or measured now, whatever comes of it.

    Args:
        context: what it works with.
    """

    def __init__(self, context: SweepContext) -> None:
        self._context = context
        self._limits = Limits()

    @property
    def context(self) -> SweepContext:
        """The context that it works with."""
        return self._context

    def selected(self, candidate: Variant, first: Variant) -> Measurement:
        """Return the row of an uncoarsened configuration, timed against the first that ran."""
        return self._row(Role.SELECTION, candidate, first)

    def compared(self, candidate: Variant, baseline: Variant) -> Measurement:
        """Return the row of a configuration, verified and timed against the baseline.

        Raises:
            DeviceError: the device can't be opened, or the baseline does not run on it any more.
            InvalidInputError: the kernel isn't what it was.
        """
        return self._row(Role.COMPARISON, candidate, baseline)

    def confirmed(self, candidate: Variant, baseline: Variant, invocation: int) -> Measurement:
        """Return the row of a configuration that is timed once more, in the process of this number."""
        return self._row(Role.CONFIRMATION, candidate, baseline, invocation)

    def excluded(self, candidate: Variant, baseline: Variant, violation: str) -> Measurement:
        """Return the row of a configuration that breaks a constraint."""
        kept = self._cached(Role.COMPARISON, candidate, baseline)
        if kept is not None:
            return self._reported(kept, measured=False)
        outcome = Outcome(invalidity=Invalidity.CONSTRAINTS, reason=violation)
        return self._store_new(self._row_of(outcome, Role.COMPARISON, candidate, baseline, _now()))

    def is_compared(self, candidate: Variant, baseline: Variant) -> bool:
        """Return True where `compared` has nothing to measure."""
        return self._cached(Role.COMPARISON, candidate, baseline) is not None

    def is_confirmed(self, candidate: Variant, baseline: Variant, invocation: int) -> bool:
        """Return True where `confirmed` has nothing to measure."""
        return self._cached(Role.CONFIRMATION, candidate, baseline, invocation) is not None

    def compile_ahead(self, candidates: Iterable[Variant], baseline: Variant) -> None:
        """Begin to compile what `compared` has to measure; where that would disturb measuring, wait for it."""
        wanted = [each for each in candidates if not self.is_compared(each, baseline)]
        if not wanted or not self._context.compile_first:
            for candidate in wanted:
                self._context.codes.ahead(candidate)
            return
        # Nor must it disturb what another sweep measures.
        with self._context.lock():
            self._context.observer.compiling(len(wanted))
            for future in [self._context.codes.ahead(candidate) for candidate in wanted]:
                future.result()

    def close(self) -> None:
        """End the process that measures."""
        self._context.process.close()

    def start_afresh(self) -> None:
        """Measure what comes next in a new process."""
        self._context.process.start_afresh()

    def _row(self, role: Role, candidate: Variant, baseline: Variant, invocation: int = 0) -> Measurement:
        """The row of a configuration, from the store or measured now."""
        kept = self._cached(role, candidate, baseline, invocation)
        if kept is not None:
            return self._reported(kept, measured=False)
        subject = self._context.subjects.of(candidate.definitions)
        self._context.observer.measuring(subject.benchmark, candidate)
        started_at = _now()
        compiled, ready, ready_baseline = self._compiled(candidate, baseline)
        with self._context.lock():
            # Another sweep may have measured it while this one waited.
            kept = self._cached(role, candidate, baseline, invocation)
            if kept is not None:
                return self._reported(kept, measured=False)
            outcome = self._outcome(ready, ready_baseline)
            row = self._row_of(outcome, role, candidate, baseline, started_at)
            return self._store_new(
                replace(
                    row,
                    invocation=invocation,
                    compile_seconds=compiled.seconds,
                    timed_seconds=timed_seconds_of(row.nanoseconds, row.baseline_nanoseconds),
                    code_hash=compiled.code.hash if compiled.code else "",
                )
            )

    def _compiled(
        self, candidate: Variant, baseline: Variant
    ) -> tuple[Compiled, Ready | Outcome, Ready | Outcome]:
        """The candidate's code, and both ready to be measured, or why not.

        Where compiling would disturb what another sweep measures, not while it does.
        """
        with self._context.lock() if self._context.compile_first else nullcontext():
            compiled = self._context.codes.compiled(candidate)
            other = self._context.codes.compiled(baseline)
            return compiled, self._ready(candidate, compiled), self._ready(baseline, other)

    def _row_of(
        self, outcome: Outcome, role: Role, candidate: Variant, baseline: Variant, started_at: str
    ) -> Measurement:
        """The row that an outcome is, with all that was known before."""
        clock = self._context.clock
        if outcome.invalidity is Invalidity.CORRECT and outcome.clock is not clock:
            raise InternalError(f"timed by the {outcome.clock}, where the {clock} was expected")
        if outcome.oracle is CheckedAgainst.UNCOARSENED and self._context.default is not None:
            raise InternalError("not compared with the default version")
        return Measurement(
            subject=self._context.subjects.of(candidate.definitions),
            environment=self._context.environment,
            method=self._context.method,
            role=role,
            candidate=candidate,
            baseline=baseline,
            started_at=started_at,
            **{field.name: getattr(outcome, field.name) for field in fields(outcome)} | {"clock": clock},
        )

    def _outcome(self, ready: Ready | Outcome, ready_baseline: Ready | Outcome) -> Outcome:
        if isinstance(ready, Outcome):
            return ready
        if isinstance(ready_baseline, Outcome):
            return ready_baseline
        return self._context.process.measure(ready, ready_baseline, self._limits)

    def _ready(self, candidate: Variant, compiled: Compiled) -> Ready | Outcome:
        if compiled.code is None:
            return Outcome(invalidity=compiled.invalidity, reason=compiled.failure)
        default = self._context.default
        original = self._context.codes.compiled(default or candidate.uncoarsened())
        if original.code is None:
            name = UNCOARSENED if default is None else DEFAULT_VERSION
            return Outcome(invalidity=original.invalidity, reason=f"{name}: {original.failure}")
        return Ready(candidate, compiled.code, compiled.binary, original.code)

    def _cached(
        self, role: Role, candidate: Variant, baseline: Variant, invocation: int = 0
    ) -> Measurement | None:
        """The stored row, if there is one that need not be measured again."""
        if self._context.again is Remeasure.EVERYTHING:
            return None
        subject = self._context.subjects.of(candidate.definitions)
        environment, method = self._context.environment, self._context.method
        clock = self._context.clock
        key = content_key(subject, environment, method, role, candidate, baseline, invocation, clock)
        kept = self._context.rows.find(key)
        if kept is not None and not self._is_checked(kept):
            return None
        fine = (Invalidity.CORRECT, Invalidity.CONSTRAINTS)
        if kept is not None and self._context.again is Remeasure.FAILED and kept.invalidity not in fine:
            return None
        if kept is not None and self._context.again is Remeasure.UNCERTAIN and is_uncertain(kept):
            return None
        return kept

    def _is_checked(self, row: Measurement) -> bool:
        """Return False for a version that was found right without the default version or a reference."""
        default = self._context.default
        if default is None or row.invalidity is not Invalidity.CORRECT or row.candidate == default:
            return True
        return row.oracle in (CheckedAgainst.REFERENCE, CheckedAgainst.DEFAULT)

    def _store_new(self, row: Measurement) -> Measurement:
        """Store a row; where one of its key has come from elsewhere meanwhile, that one counts."""
        if self._context.again is not Remeasure.NOTHING:
            self._context.rows.replace(row)
        elif not self._context.rows.add(row):
            there = self._context.rows.find(row.key) or row
            if self._is_checked(there):
                return self._reported(there, measured=False)
            self._context.rows.replace(row)
        return self._reported(row, measured=True)

    def _reported(self, row: Measurement, *, measured: bool) -> Measurement:
        self._update_limits(row)
        self._context.observer.stored(row, measured)
        return row

    def _update_limits(self, row: Measurement) -> None:
        """Keep the best duration so far, which says how long others may take."""
        if row.invalidity is not Invalidity.CORRECT:
            return
        best = min(median(row.nanoseconds), median(row.baseline_nanoseconds), self._limits.best or float("inf"))
        self._limits = Limits(best, median(row.baseline_nanoseconds))


# What measuring works with: where subjects and codes come from, where rows go, the process that measures.


class Subjects(Protocol):
    """Knows what is measured."""

    def of(self, definitions: Definitions) -> Subject:
        """Return the subject with these macro values.

        Raises InvalidInputError where the kernel doesn't compile.
        """
        ...


class Codes(Protocol):
    """Gives candidates' code."""

    def ahead(self, candidate: Variant) -> Future[Compiled]:
        """Begin to make a candidate's code."""
        ...

    def compiled(self, candidate: Variant) -> Compiled:
        """Return a candidate's code, or why there is none; waits for it."""
        ...


class Rows(Protocol):
    """Where rows are stored."""

    def find(self, key: str) -> Measurement | None:
        """Return the row of this key, if there is one."""
        ...

    def add(self, measurement: Measurement) -> bool:
        """Store a row; False where one with its key was there."""
        ...

    def replace(self, measurement: Measurement) -> None:
        """Store a row in place of the one with its key."""
        ...


def context_with(
    plan: SweepPlan,
    benchmark: Benchmark,
    device: DeviceDescription,
    rows: Rows,
    codes: Codes,
    process: MeasuringProcess,
    subjects: Subjects | None = None,
    versions: Versions | None = None,
) -> SweepContext:
    """Return what a plan is measured with.

    Args:
        plan: what to measure, where and how.
        benchmark: what it names.
        device: the same.
        rows: where the rows go.
        codes: gives the code; a `Compiler` compiles it here.
        process: measures.
        subjects: of the benchmark; those of the compiler if None.
        versions: of what made the code; those of this installation if None.
    """
    compiler = codes if isinstance(codes, Compiler) else None
    if subjects is None:
        assert compiler is not None
        subjects = CompiledSubjects(benchmark, plan.preset, plan.seed, compiler.ir_hash)
    return SweepContext(
        device=str(device),
        environment=environment_of(device, plan.form, versions),
        method=plan.method,
        subjects=subjects,
        codes=codes,
        process=process,
        rows=rows,
        lock=partial(device_lock, device),
        compile_first=compiler is not None and "cpu" in device.device_types,
        confirms=plan.confirms,
        clock=benchmark.clock,
    )


@dataclass(frozen=True, slots=True)
class SweepContext:
    """All that measuring works with.

    `device` is what a person is told; `lock` is held while something is measured; `compile_first` says that
    compiling would disturb measuring; `confirms` that the best ones are confirmed in new processes. `clock` is the
    benchmark's. `default` is the version that others' results are compared with, as the process knows it; None:
    the uncoarsened kernel with the same macros.
    """

    device: str
    environment: Environment
    method: Method
    subjects: Subjects
    codes: Codes
    process: MeasuringProcess
    rows: Rows
    lock: Callable[[], AbstractContextManager[object]]
    observer: SweepObserver = field(default_factory=SweepObserver)
    again: Remeasure = Remeasure.NOTHING
    compile_first: bool = False
    confirms: bool = True
    clock: Clock = Clock.SUM
    default: Variant | None = None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
