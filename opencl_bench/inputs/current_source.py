"""Stored rows of a kernel as it is now, without those of older sources, and of other inputs of the same names.

A row's subject has the hash of the kernel's IR with the row's macros, and the input's sizes: both are found again
from the source and the list of inputs.
"""

from __future__ import annotations

from dataclasses import replace

from coarsen.errors import CoarsenError, InternalError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import compile_source, lower
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Subject
from coarsen.opencl_bench.sweep.compile_service import build_options, ir_hash_of
from coarsen.opencl_bench.sweep.compiler import CompiledSubjects
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions


class CurrentSource:
    """A benchmark's source and inputs as they are now.

    Args:
        benchmark: what rows are of.
        macros: those that the device defines, for a kernel that asks for them.
    """

    def __init__(self, benchmark: Benchmark, macros: DeviceMacros = PORTABLE) -> None:
        self._benchmark = benchmark
        self._macros = macros
        self._hashes: dict[Definitions, str | None] = {}
        self._subjects: dict[tuple[str, int], Subject] = {}

    def is_of(self, row: Measurement) -> bool:
        """Return True if a row was measured with this source, on an input that is still there.

        Where the macro values don't compile, it is one that didn't compile.
        """
        subject = row.subject
        if subject.benchmark != self._benchmark.name or subject.preset not in self._benchmark.presets:
            return False
        if replace(subject, ir_hash="") != self._without_hash(subject.preset, subject.seed):
            return False
        found = self._hash(tuple(sorted(row.candidate.definitions)))
        return subject.ir_hash == found if found else row.invalidity is Invalidity.COMPILE

    def _without_hash(self, preset: str, seed: int) -> Subject:
        place = preset, seed
        if place not in self._subjects:
            self._subjects[place] = CompiledSubjects(self._benchmark, preset, seed, lambda _: "").of(())
        return self._subjects[place]

    def _hash(self, definitions: Definitions) -> str | None:
        """The hash of the IR with some macro values, found out once; None where they don't compile."""
        if definitions not in self._hashes:
            self._hashes[definitions] = self._found(definitions)
        return self._hashes[definitions]

    def _found(self, definitions: Definitions) -> str | None:
        benchmark = self._benchmark
        options = build_options(benchmark, definitions)
        try:
            unit = compile_source(benchmark.code, options, self._macros)
            kernel, *others = (lower(unit, name) for name in (benchmark.kernel, *benchmark.other_kernels))
        except InternalError:
            raise
        except CoarsenError:
            return None
        return ir_hash_of(kernel, benchmark, others)
