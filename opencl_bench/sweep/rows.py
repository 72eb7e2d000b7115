"""Measures the points of a space one after the other and stores each as a row, whatever happens.

    uncoarsened configurations ──▶ the best of them is the baseline
    every configuration        ──▶ verified, timed against the baseline ──▶ store
    the best of these          ──▶ confirmed in several new processes (see `confirmation`)

Where the code comes from and where the rows go is left open: a sweep compiles and has a database, a pack brings
its code along and writes a file. Needs nothing but Python, NumPy and the device's own package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.measure.speedup import median
from coarsen.opencl_bench.records.measurement import (
    Environment,
    Invalidity,
    Measurement,
    Method,
    Role,
    Subject,
    content_key,
)
from coarsen.opencl_bench.sweep.compiler import Compiled
from coarsen.opencl_bench.sweep.confirmation import PROCESSES, in_turn, most_rows, speedup, to_confirm
from coarsen.opencl_bench.sweep.measuring_process import Limits, MeasuringProcess, Outcome, Ready
from coarsen.opencl_bench.sweep.observer import Remeasure, SweepObserver
from coarsen.opencl_bench.sweep.points import Point
from coarsen.variant.variant import Definitions, Variant


class Subjects(Protocol):
    """Knows what is measured."""

    def of(self, definitions: Definitions) -> Subject:
        """The subject with these macro values. Raises InvalidInputError where the kernel doesn't compile."""
        ...


class Codes(Protocol):
    """Gives candidates' code."""

    def ahead(self, candidate: Variant) -> Future[Compiled]:
        """Begin to make a candidate's code."""
        ...

    def compiled(self, candidate: Variant) -> Compiled:
        """A candidate's code, or why there is none; waits for it."""
        ...


class Rows(Protocol):
    """Where rows are stored."""

    def find(self, key: str) -> Measurement | None:
        """The row of this key, if there is one."""
        ...

    def add(self, measurement: Measurement) -> bool:
        """Store a row; False where one with its key was there."""
        ...

    def replace(self, measurement: Measurement) -> None:
        """Store a row in place of the one with its key."""
        ...


@dataclass(frozen=True, slots=True)
class SweepContext:
    """All that a sweep works with.

    `device` is what a person is told; `lock` is held while something is measured; `compile_first` says that
    compiling would disturb measuring; `confirms` that the best ones are confirmed in new processes.
    """

    device: str
    environment: Environment
    method: Method
    subjects: Subjects
    codes: Codes
    process: MeasuringProcess
    rows: Rows
    lock: Callable[[], AbstractContextManager[None]]
    observer: SweepObserver = field(default_factory=SweepObserver)
    again: Remeasure = Remeasure.NOTHING
    compile_first: bool = False
    confirms: bool = True


@dataclass(frozen=True, slots=True)
class _Pair:
    """A candidate and its baseline, both compiled: ready to be measured, or why not."""

    candidate: Variant
    baseline: Variant
    compiled: Compiled
    ready: Ready | Outcome
    ready_baseline: Ready | Outcome


class RowSweep:
    """One run over a space."""

    def __init__(self, context: SweepContext) -> None:
        self._context = context
        self._limits = Limits()

    def run(self, space: Sequence[Point]) -> str:
        """Measure all; returns why there is no baseline, empty where there is one.

        Raises:
            DeviceError: the device can't be opened, or the baseline does not run on it any more.
            InvalidInputError: the kernel doesn't compile, or isn't what it was; there are no points.
        """
        if not space:
            raise InvalidInputError("there is no configuration to measure")
        uncoarsened = [p.candidate for p in space if not p.candidate.coarsenings and p.violation is None]
        name = self._context.subjects.of(space[0].candidate.definitions).benchmark
        coarsened = sum(bool(p.candidate.coarsenings) and p.violation is None for p in space)
        confirmed = most_rows(coarsened, len(uncoarsened)) if self._context.confirms else 0
        self._context.observer.planned(name, self._context.device, len(uncoarsened) + len(space) + confirmed)
        baseline, problem = self._best_uncoarsened(uncoarsened)
        if baseline is None:
            return problem
        self._compile_ahead(space, baseline)
        rows = [self._compared(point, baseline) for point in space]
        if self._context.confirms:
            self._confirm(to_confirm(rows, baseline), baseline)
        return ""

    def _compared(self, point: Point, baseline: Variant) -> Measurement:
        if point.violation is not None:
            return self._violation(point.candidate, baseline, point.violation)
        return self._row(Role.COMPARISON, point.candidate, baseline)

    def _confirm(self, candidates: Sequence[Variant], baseline: Variant) -> None:
        """Time these once more in each of several new processes; what fails in one is not timed in the next."""
        for invocation in range(PROCESSES):
            known = [self._cached(Role.CONFIRMATION, each, baseline, invocation) for each in candidates]
            if None in known:
                self._context.process.start_afresh()
            rows = [
                self._row(Role.CONFIRMATION, candidate, baseline, invocation)
                for candidate in in_turn(candidates, invocation)
            ]
            failed = {row.candidate for row in rows if row.invalidity is not Invalidity.CORRECT}
            candidates = [candidate for candidate in candidates if candidate not in failed]

    def _best_uncoarsened(self, candidates: list[Variant]) -> tuple[Variant | None, str]:
        """The fastest uncoarsened configuration; None, and why, where none runs correctly.

        Each is timed against the first that ran: comparisons across time would compare the machine's moods.
        """
        first: Variant | None = None
        rows: list[Measurement] = []
        for candidate in candidates:
            row = self._row(Role.SELECTION, candidate, first or candidate)
            rows.append(row)
            if row.invalidity is Invalidity.CORRECT and first is None:
                first = candidate
        correct = [row for row in rows if row.invalidity is Invalidity.CORRECT]
        if not correct:
            return None, rows[0].reason if rows else "no uncoarsened configuration fits the device"
        return max(correct, key=speedup).candidate, ""

    def _compile_ahead(self, space: Sequence[Point], baseline: Variant) -> None:
        """Begin to compile what will be measured; where compiling would disturb that, wait for it."""
        wanted = [
            point.candidate
            for point in space
            if point.violation is None and self._cached(Role.COMPARISON, point.candidate, baseline) is None
        ]
        if not wanted or not self._context.compile_first:
            for candidate in wanted:
                self._context.codes.ahead(candidate)
            return
        # Nor must it disturb what another sweep measures.
        with self._context.lock():
            self._context.observer.compiling(len(wanted))
            for future in [self._context.codes.ahead(candidate) for candidate in wanted]:
                future.result()

    def _row(self, role: Role, candidate: Variant, baseline: Variant, invocation: int = 0) -> Measurement:
        """The row of a configuration, from the store or measured now."""
        kept = self._cached(role, candidate, baseline, invocation)
        if kept is not None:
            return self._reported(kept, measured=False)
        subject = self._context.subjects.of(candidate.definitions)
        self._context.observer.measuring(subject.benchmark, candidate)
        started_at = datetime.now(UTC).isoformat(timespec="seconds")
        pair = self._pair(candidate, baseline)
        with self._context.lock():
            # Another sweep may have measured it while this one waited.
            kept = self._cached(role, candidate, baseline, invocation)
            if kept is not None:
                return self._reported(kept, measured=False)
            measured = self._measured(subject, role, pair, started_at)
            return self._store_new(replace(measured, invocation=invocation))

    def _pair(self, candidate: Variant, baseline: Variant) -> _Pair:
        """The codes of both; where compiling would disturb what another sweep measures, not while it does."""
        with self._context.lock() if self._context.compile_first else nullcontext():
            compiled = self._context.codes.compiled(candidate)
            ready = self._ready(candidate, compiled)
            ready_baseline = self._ready(baseline, self._context.codes.compiled(baseline))
        return _Pair(candidate, baseline, compiled, ready, ready_baseline)

    def _measured(self, subject: Subject, role: Role, pair: _Pair, started_at: str) -> Measurement:
        outcome = self._outcome(pair)
        return Measurement(
            subject=subject,
            environment=self._context.environment,
            method=self._context.method,
            role=role,
            candidate=pair.candidate,
            baseline=pair.baseline,
            invalidity=outcome.invalidity,
            started_at=started_at,
            reason=outcome.reason,
            oracle=outcome.oracle,
            nanoseconds=outcome.nanoseconds,
            baseline_nanoseconds=outcome.baseline_nanoseconds,
            compile_seconds=pair.compiled.seconds,
            measure_seconds=outcome.measure_seconds,
            timed_seconds=sum((*outcome.nanoseconds, *outcome.baseline_nanoseconds)) / 1e9,
            code_hash=pair.compiled.code.hash if pair.compiled.code else "",
        )

    def _outcome(self, pair: _Pair) -> Outcome:
        for ready in (pair.ready, pair.ready_baseline):
            if isinstance(ready, Outcome):
                return ready
        assert isinstance(pair.ready, Ready) and isinstance(pair.ready_baseline, Ready)
        return self._context.process.measure(pair.ready, pair.ready_baseline, self._limits)

    def _ready(self, candidate: Variant, compiled: Compiled) -> Ready | Outcome:
        if compiled.code is None:
            return Outcome(compiled.invalidity, compiled.failure)
        original = self._context.codes.compiled(replace(candidate, coarsenings=()))
        if original.code is None:
            return Outcome(original.invalidity, f"the uncoarsened kernel: {original.failure}")
        return Ready(candidate, compiled.code, compiled.binary, original.code)

    def _violation(self, candidate: Variant, baseline: Variant, violation: str) -> Measurement:
        kept = self._cached(Role.COMPARISON, candidate, baseline)
        if kept is not None:
            return self._reported(kept, measured=False)
        row = Measurement(
            subject=self._context.subjects.of(candidate.definitions),
            environment=self._context.environment,
            method=self._context.method,
            role=Role.COMPARISON,
            candidate=candidate,
            baseline=baseline,
            invalidity=Invalidity.CONSTRAINTS,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            reason=violation,
        )
        return self._store_new(row)

    def _cached(
        self, role: Role, candidate: Variant, baseline: Variant, invocation: int = 0
    ) -> Measurement | None:
        """The stored row, if there is one that need not be measured again."""
        if self._context.again is Remeasure.EVERYTHING:
            return None
        subject = self._context.subjects.of(candidate.definitions)
        environment, method = self._context.environment, self._context.method
        key = content_key(subject, environment, method, role, candidate, baseline, invocation)
        kept = self._context.rows.find(key)
        fine = (Invalidity.CORRECT, Invalidity.CONSTRAINTS)
        if kept is not None and self._context.again is Remeasure.FAILED and kept.invalidity not in fine:
            return None
        return kept

    def _store_new(self, row: Measurement) -> Measurement:
        """Store a row; where one of its key has come from elsewhere meanwhile, that one counts."""
        if self._context.again is not Remeasure.NOTHING:
            self._context.rows.replace(row)
        elif not self._context.rows.add(row):
            return self._reported(self._context.rows.find(row.key) or row, measured=False)
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
