"""Writes a pack: candidates compiled here, to be measured on a machine where the compiler isn't.

    benchmarks × forms ─▶ points of the space ─▶ code, each distinct one once ─▶ DIR

A candidate that can't be compiled is part of the plan, with the reason; so are those that break a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from coarsen.codec import encoded
from coarsen.errors import InvalidInputError
from coarsen.frontend.source_hash import hash_with_headers
from coarsen.opencl_bench.measure.environment import installed_versions
from coarsen.opencl_bench.records.code import Form
from coarsen.opencl_bench.records.measurement import Invalidity, Method, Subject
from coarsen.opencl_bench.sweep.compile_service import has_includes
from coarsen.opencl_bench.sweep.compiler import Compiled, CompilePool, Compiler
from coarsen.opencl_bench.sweep.pack.plan import (
    Packed,
    PackedCandidate,
    PackedSweep,
    PackPlan,
)
from coarsen.opencl_bench.sweep.pack.unfinished import key_of
from coarsen.opencl_bench.sweep.pack.writer import PackWriter
from coarsen.opencl_bench.sweep.plan import Space
from coarsen.opencl_bench.sweep.points import DeviceLimits, Point, points
from coarsen.opencl_bench.sweep.subjects import CompiledSubjects
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.runtime.text_cache.versions import versions
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant

# The limits that every GPU of the last ten years has at least.
USUAL_LIMITS = DeviceLimits(max_work_group_size=1024, max_work_item_sizes=(1024, 1024, 64), local_memory=48 << 10)
PACKAGES = ("coarsen", "llvmlite")


@dataclass(frozen=True, slots=True)
class PackPart:
    """A benchmark (a name of the suite or the path of a TOML file), the preset and the space to pack.

    Where a version is the `default`, it is packed as well, and all others are measured against it.
    """

    benchmark: str | Path
    preset: str
    space: Space
    default: Variant | None = None


@dataclass(frozen=True, slots=True)
class PackRequest:
    """The request for a pack; `limits` and `device_kind` are those of the devices it is made for."""

    parts: tuple[PackPart, ...]
    forms: tuple[Form, ...] = ("opencl_c",)
    seed: int = 0
    method: Method = field(default_factory=Method)
    limits: DeviceLimits = USUAL_LIMITS
    device_kind: DeviceKind = DeviceKind.ANY


@dataclass(frozen=True, slots=True)
class PackSummary:
    """The contents of a pack: sweeps, configurations, codes and bytes; what could not be packed, and why."""

    sweeps: tuple[PackedSweep, ...]
    codes: int
    byte_count: int
    left_out: tuple[str, ...]


Progress = Callable[[str], None]


def write_pack(request: PackRequest, folder: Path, progress: Progress = lambda _line: None) -> PackSummary:
    """Write a pack; one that was interrupted goes on where it was.

    Args:
        request: what it is to hold.
        folder: made; must not exist, be empty, or hold what an interrupted call has left.
        progress: called with one line on what is being compiled.

    Raises:
        InvalidInputError: no such benchmark or preset, nothing that could be packed, a folder that can't be used.
    """
    benchmarks = [find_benchmark(part.benchmark) for part in request.parts]
    for part, benchmark in zip(request.parts, benchmarks, strict=True):
        benchmark.preset(part.preset)
    writer = PackWriter(folder)
    sweeps, left_out = [], []
    with _Compilers(request) as compilers:
        for number, (part, benchmark) in enumerate(zip(request.parts, benchmarks, strict=True)):
            for form in request.forms:
                progress(f"{benchmark.name}, {form}")
                try:
                    sweep = _kept_or_packed(request, part, benchmark, form, writer, compilers)
                except InvalidInputError as error:
                    left_out.append(f"{benchmark.name} as {form}: {error}")
                    continue
                sweeps.append(replace(sweep, benchmark=writer.add_benchmark(part.benchmark, benchmark, number)))
    if not sweeps:
        raise InvalidInputError(f"there is nothing to pack: {'; '.join(left_out)}")
    writer.finish(PackPlan(installed_versions(PACKAGES), tuple(sweeps)))
    return PackSummary(tuple(sweeps), len(writer.codes), writer.byte_count, tuple(left_out))


def _kept_or_packed(
    request: PackRequest,
    part: PackPart,
    benchmark: Benchmark,
    form: Form,
    writer: PackWriter,
    compilers: _Compilers,
) -> PackedSweep:
    """A sweep that an interrupted call has packed, or packed now."""
    asked = [part.space, request.method, request.limits, request.device_kind, part.default]
    content = [
        str(part.benchmark),
        part.preset,
        form,
        request.seed,
        _source_hash(benchmark),
        benchmark.inputs_hash,
    ]
    key = key_of([*content, *map(encoded, asked), versions()])
    kept = writer.unfinished.find(key)
    if kept is None or not writer.can_take(kept.codes):
        sweep = _packed_sweep(request, part, benchmark, form, writer, compilers.of(part.benchmark, form))
        own = {each.code: writer.codes[each.code] for each in sweep.candidates if each.code is not None}
        codes = {**own, **{other: writer.codes[other] for entry in own.values() for other in entry.others}}
        kept = Packed(PackPlan((), (sweep,)), codes)
        writer.unfinished.add(key, kept)
    writer.codes.update(kept.codes)
    return kept.plan.sweeps[0]


def _source_hash(benchmark: Benchmark) -> str:
    """The hash of a benchmark's source with what it includes."""
    folder = None if benchmark.source_file is None else benchmark.source_file.parent
    return hash_with_headers(benchmark.source, benchmark.build_options, folder)


def _packed_sweep(
    request: PackRequest, part: PackPart, benchmark: Benchmark, form: Form, writer: PackWriter, compiler: Compiler
) -> PackedSweep:
    space = _points(request, part, benchmark)
    if form == "opencl_c" and has_includes(benchmark.source):
        raise InvalidInputError("its source includes files, which a pack does not hold; pack it as spirv or ptx")
    name = str(part.benchmark)
    futures = {_code_key(p): compiler.ahead(_code_key(p)) for p in space if p.violation is None}
    subjects = _subjects(request.seed, part.preset, benchmark, space, compiler)
    candidates = tuple(
        _packed_candidate(point, None if point.violation else futures[_code_key(point)].result(), writer)
        for point in space
    )
    return PackedSweep(
        name,
        part.preset,
        request.seed,
        form,
        request.method,
        subjects,
        candidates,
        benchmark.content_hash(part.preset),
        part.default,
    )


def _points(request: PackRequest, part: PackPart, benchmark: Benchmark) -> list[Point]:
    """The points of a part's space; where a version is the default, it is the first."""
    found = points(benchmark, part.preset, part.space, request.limits, request.device_kind)
    if part.default is None:
        return found
    alone = Space(variants=(part.default,))
    default = points(benchmark, part.preset, alone, request.limits)
    return [*default, *(point for point in found if point.candidate != part.default)]


def _code_key(point: Point) -> Variant:
    """The variant whose code serves for all local sizes."""
    return point.candidate.code_variant()


def _subjects(
    seed: int, preset: str, benchmark: Benchmark, space: Sequence[Point], compiler: Compiler
) -> tuple[tuple[Definitions, Subject], ...]:
    """The subject of each set of macro values. Raises InvalidInputError where the kernel doesn't compile."""
    subjects = CompiledSubjects(benchmark, preset, seed, compiler.ir_hash)
    definitions = dict.fromkeys(point.candidate.definitions for point in space)
    return tuple((values, subjects.of(values)) for values in definitions)


def _packed_candidate(point: Point, compiled: Compiled | None, writer: PackWriter) -> PackedCandidate:
    if compiled is None:
        reason = point.violation or ""
        return PackedCandidate(point.candidate, invalidity=Invalidity.CONSTRAINTS, failure=reason)
    if compiled.code is None:
        return PackedCandidate(point.candidate, None, compiled.seconds, compiled.invalidity, compiled.failure)
    return PackedCandidate(point.candidate, writer.add_code(compiled.code), compiled.seconds)


class _Compilers:
    """The compilers of a request, one for all presets of a benchmark in a form."""

    def __init__(self, request: PackRequest) -> None:
        self._method = request.method
        self._opened = ExitStack()
        self._known: dict[tuple[str, Form], Compiler] = {}

    def __enter__(self) -> Self:
        self._pool = self._opened.enter_context(CompilePool())
        return self

    def __exit__(self, *exception: object) -> None:
        self._opened.close()

    def of(self, benchmark: str | Path, form: Form) -> Compiler:
        """Return the compiler of a benchmark, which no other one works beside."""
        key = str(benchmark), form
        if key not in self._known:
            made = Compiler(key[0], form, None, self._method, self._pool)
            self._known[key] = self._opened.enter_context(made)
        return self._known[key]
