"""Compiles candidates ahead of their measurement, several at a time, each in a process that can be killed."""

from __future__ import annotations

import hashlib
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from coarsen.errors import InvalidInputError
from coarsen.tuning.processes.child_process import ChildDiedError, ChildProcess, ChildTimedOutError
from coarsen.tuning.records.code import Code, Form, code_from_json
from coarsen.tuning.records.measurement import Invalidity, Method, Subject
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.variant import Definitions, Variant
from coarsen.variant.variant_json import variant_to_json

T = TypeVar("T")

SERVICE = "coarsen.tuning.processes.compile_service"
# A process that isn't there yet loads clang and LLVM first, on a busy machine in seconds.
STARTING_SECONDS = 5.0
# However little time is left, an answer that is there may be read.
_LEAST_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Compiled:
    """The result of a compilation: the code, with the device's binary in base64 if it gave one, or a failure."""

    code: Code | None
    binary: str | None = None
    seconds: float = 0.0
    invalidity: Invalidity = Invalidity.CORRECT
    failure: str = ""


class CompilePool:
    """Processes that compile, and one that measures; benchmarks one after the other can share them.

    They are started when they are needed.

    Args:
        workers: how many run at once; as many as there are processors if None.
        variables: of their environment, besides those of this process.

    Attributes:
        numbers: one for each benchmark. A process forgets what it keeps of a kernel when the number is another,
            since a user's file may have changed.
    """

    def __init__(self, workers: int | None = None, variables: Mapping[str, str] | None = None) -> None:
        self._variables = variables
        count = workers or max(1, os.cpu_count() or 1)
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="compile")
        self._here = threading.local()
        self._children: list[ChildProcess] = []
        self._is_over = False
        self._measuring: tuple[str, ChildProcess] | None = None
        self.numbers = itertools.count()

    def __enter__(self) -> CompilePool:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.stop()
        self._pool.shutdown(wait=True)
        for child in self._children:
            child.close()
        if self._measuring is not None:
            self._measuring[1].close()

    def measuring(self, service: str, device: str) -> ChildProcess:
        """Return the process that measures on a device; that of another device is closed, for it would disturb.

        Args:
            service: the module that runs in it.
            device: its index.
        """
        if self._measuring is None or self._measuring[0] != device:
            if self._measuring is not None:
                self._measuring[1].close()
            self._measuring = device, ChildProcess(service, variables=self._variables)
        return self._measuring[1]

    def stop(self) -> None:
        """Kill the processes and drop what they were to do; what is compiled stays, and nothing more can be."""
        # In this order: a thread that waits for a child goes on when it dies, and must not start another.
        self._is_over = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        for child in list(self._children):
            child.end()

    def submit(self, task: Callable[[], T]) -> Future[T]:
        """Submit a task to a thread that may send requests to a process."""
        return self._pool.submit(task)

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer of this thread's process. Raises as `ChildProcess.ask` does."""
        child = self._child
        if self._is_over:
            child.end()
        return child.ask(request, seconds)

    @property
    def starting_seconds(self) -> float:
        """The seconds that this thread's process may take beside its work: it may have to be started."""
        return 0.0 if self._child.is_running else STARTING_SECONDS

    @property
    def _child(self) -> ChildProcess:
        if not hasattr(self._here, "child"):
            self._here.child = ChildProcess(SERVICE, variables=self._variables)
            self._children.append(self._here.child)
        child: ChildProcess = self._here.child
        return child


class Compiler:
    """Compiles the candidates of one benchmark; those that differ in the local size alone share their code.

    Args:
        benchmark: what `benchmark_of` takes.
        form: what the device takes.
        machine: where the device's own compiler is tried; None where the device isn't here.
        method: says how long a compilation may take.
        pool: the processes that compile; a compilation not begun when the context ends is dropped.
        time_left: the seconds that are left for everything; None where there is no such limit.
        called: the benchmark in messages; `benchmark` if None.
    """

    def __init__(
        self,
        benchmark: str,
        form: Form,
        machine: Mapping[str, Any] | None,
        method: Method,
        pool: CompilePool,
        time_left: Callable[[], float] | None = None,
        called: str | None = None,
    ) -> None:
        self._time_left = time_left
        self._benchmark = benchmark
        self._called = called or benchmark
        self._form = form
        self._machine = machine
        self._method = method
        self._shared = pool
        self._number = next(pool.numbers)
        self._futures: dict[Variant, Future[Compiled]] = {}
        self._ir_hashes: dict[Definitions, str] = {}

    def __enter__(self) -> Compiler:
        return self

    def __exit__(self, *_exception: object) -> None:
        for future in self._futures.values():
            future.cancel()

    def use(self, method: Method) -> None:
        """Allow each compilation that begins from now on as long as another method does."""
        self._method = method

    def ir_hash(self, definitions: Definitions) -> str:
        """Return the hash of the kernel's normalised IR. Raises InvalidInputError where it doesn't compile."""
        if definitions in self._ir_hashes:
            return self._ir_hashes[definitions]
        request = {
            "do": "describe",
            "benchmark": self._benchmark,
            "definitions": dict(definitions),
            "machine": self._machine,
        }
        try:
            answer = self._shared.submit(lambda: self._ask(request)).result()
        except (ChildDiedError, ChildTimedOutError) as error:
            raise InvalidInputError(f"{self._called} can't be compiled: {error}") from None
        if "failed" in answer:
            raise InvalidInputError(f"{self._called}: {answer['failed']}")
        self._ir_hashes[definitions] = str(answer["ir_hash"])
        return self._ir_hashes[definitions]

    def ahead(self, candidate: Variant) -> Future[Compiled]:
        """Begin to compile a candidate, unless that was begun before."""
        shared = candidate.code_variant()
        if shared not in self._futures:
            self._futures[shared] = self._shared.submit(lambda: self._compile(shared))
        return self._futures[shared]

    def compiled(self, candidate: Variant) -> Compiled:
        """Return the candidate, compiled; waits for it.

        Raises InvalidInputError where the kernel isn't what it was.
        """
        return self.ahead(candidate).result()

    def _compile(self, candidate: Variant) -> Compiled:
        request = {
            "do": "compile",
            "benchmark": self._benchmark,
            "candidate": variant_to_json(candidate),
            "form": self._form,
            "machine": self._machine,
            "ir_hash": self._ir_hashes.get(candidate.definitions),
        }
        seconds = self._method.compile_seconds
        try:
            answer = self._ask(request)
        except ChildTimedOutError:
            failure = f"not compiled within {seconds:g} s"
            return Compiled(None, None, seconds, Invalidity.TIMEOUT, failure)
        except ChildDiedError as error:
            return Compiled(None, invalidity=Invalidity.COMPILE, failure=f"while compiling, {error}")
        if "changed" in answer:
            raise InvalidInputError(f"{self._called} has changed since the sweep began; begin again")
        if "failed" in answer:
            return Compiled(None, invalidity=Invalidity.COMPILE, failure=answer["failed"])
        return Compiled(code_from_json(answer["code"]), answer["binary"], answer["seconds"])

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        seconds = self._method.compile_seconds + self._shared.starting_seconds
        if self._time_left is not None:
            seconds = min(seconds, max(self._time_left(), _LEAST_SECONDS))
        return self._shared.ask({**request, "number": self._number}, seconds)


class CompiledSubjects:
    """The subjects of a benchmark, each found out once.

    Args:
        benchmark: what is measured.
        preset: names the sizes.
        seed: of the inputs.
        ir_hash: compiles the kernel with some macro values; raises InvalidInputError where it doesn't compile.
    """

    def __init__(
        self, benchmark: Benchmark, preset: str, seed: int, ir_hash: Callable[[Definitions], str]
    ) -> None:
        self._benchmark = benchmark
        self._preset = preset
        self._seed = seed
        self._ir_hash = ir_hash
        self._subjects: dict[Definitions, Subject] = {}

    def of(self, definitions: Definitions) -> Subject:
        """Return the subject with these macro values.

        Raises:
            InvalidInputError: these are the first values that were asked for, and the kernel doesn't compile.
        """
        if definitions not in self._subjects:
            self._subjects[definitions] = self._subject(self._hash_of(definitions))
        return self._subjects[definitions]

    def _hash_of(self, definitions: Definitions) -> str:
        """The IR's hash; that of the reason where these values of several are wrong, whose rows say so then."""
        try:
            return self._ir_hash(definitions)
        except InvalidInputError as error:
            if not self._subjects:
                raise
            return hashlib.sha256(f"{error}\0{self._benchmark.source}".encode()).hexdigest()

    def _subject(self, ir_hash: str) -> Subject:
        benchmark = self._benchmark
        return Subject(
            benchmark.name,
            benchmark.kernel,
            ir_hash,
            tuple(_without_folders(benchmark.build_options)),
            self._preset,
            tuple(sorted(benchmark.preset(self._preset).size.items())),
            self._seed,
        )


def _without_folders(options: Sequence[str]) -> Iterator[str]:
    """Build options without `-I`: what is included is part of the IR, and where it lies is no matter."""
    remaining = iter(options)
    for option in remaining:
        if option == "-I":
            next(remaining, None)
        elif not option.startswith("-I"):
            yield option
