"""Subjects of a sweep's rows: a benchmark at its sizes, with the hash of the IR of each set of macro values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Subject
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions


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
