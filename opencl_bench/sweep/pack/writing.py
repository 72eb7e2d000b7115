"""Writes a pack: candidates compiled here, to be measured on a machine where the compiler isn't.

    benchmarks × forms ─▶ points of the space ─▶ code, each distinct one once ─▶ DIR

A candidate that can't be compiled is part of the plan, with the reason; so are those that break a limit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coarsen.codec import encoded
from coarsen.errors import InvalidInputError
from coarsen.files import replace_file
from coarsen.opencl_bench.measure.environment import installed_versions
from coarsen.opencl_bench.records.code import Code, Form
from coarsen.opencl_bench.records.measurement import Invalidity, Method, Subject
from coarsen.opencl_bench.sweep.compile_service import has_includes
from coarsen.opencl_bench.sweep.compiler import Compiled, CompilePool, Compiler
from coarsen.opencl_bench.sweep.pack.plan import (
    BENCHMARK_FOLDER,
    PLAN_FILE,
    CodeEntry,
    Packed,
    PackedCandidate,
    PackedSweep,
    PackPlan,
    code_file,
)
from coarsen.opencl_bench.sweep.pack.plan_json import plan_to_json
from coarsen.opencl_bench.sweep.pack.unfinished import Unfinished, key_of
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

README = """\
Measures coarsened OpenCL kernels: needs Python 3.11 or later, NumPy, PyOpenCL (or cuda-bindings) and coarsen
(`pip install --no-deps coarsen`); no compiler. In this folder: `python -m coarsen.opencl_bench.run_pack .`
writes results.jsonl; take that back, to `coarsen results import`. `--help` lists the options.
"""


@dataclass(frozen=True, slots=True)
class PackPart:
    """A benchmark (a name of the suite or the path of a TOML file), the preset and the space to pack."""

    benchmark: str | Path
    preset: str
    space: Space


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
    writer = _Writer(folder)
    sweeps, left_out = [], []
    with CompilePool() as pool:
        for number, (part, benchmark) in enumerate(zip(request.parts, benchmarks, strict=True)):
            for form in request.forms:
                progress(f"{benchmark.name}, {form}")
                try:
                    sweep = _kept_or_packed(request, part, benchmark, form, writer, pool)
                except InvalidInputError as error:
                    left_out.append(f"{benchmark.name} as {form}: {error}")
                    continue
                sweeps.append(replace(sweep, benchmark=writer.add_benchmark(part.benchmark, benchmark, number)))
    if not sweeps:
        raise InvalidInputError(f"there is nothing to pack: {'; '.join(left_out)}")
    writer.finish(PackPlan(installed_versions(PACKAGES), tuple(sweeps)))
    return PackSummary(tuple(sweeps), len(writer.codes), writer.byte_count, tuple(left_out))


def _kept_or_packed(
    request: PackRequest, part: PackPart, benchmark: Benchmark, form: Form, writer: _Writer, pool: CompilePool
) -> PackedSweep:
    """A sweep that an interrupted call has packed, or packed now."""
    asked = [part.space, request.method, request.limits, request.device_kind]
    content = [str(part.benchmark), part.preset, form, request.seed, benchmark.source, benchmark.inputs_hash]
    key = key_of([*content, *map(encoded, asked), versions()])
    kept = writer.unfinished.find(key)
    if kept is None:
        sweep = _packed_sweep(request, part, benchmark, form, writer, pool)
        own = {each.code: writer.codes[each.code] for each in sweep.candidates if each.code is not None}
        codes = {**own, **{other: writer.codes[other] for entry in own.values() for other in entry.others}}
        kept = Packed(PackPlan((), (sweep,)), codes)
        writer.unfinished.add(key, kept)
    writer.codes.update(kept.codes)
    return kept.plan.sweeps[0]


def _packed_sweep(
    request: PackRequest, part: PackPart, benchmark: Benchmark, form: Form, writer: _Writer, pool: CompilePool
) -> PackedSweep:
    space = points(benchmark, part.preset, part.space, request.limits, request.device_kind)
    if form == "opencl_c" and has_includes(benchmark.source):
        raise InvalidInputError("its source includes files, which a pack does not hold; pack it as spirv or ptx")
    name = str(part.benchmark)
    with Compiler(name, form, None, request.method, pool) as compiler:
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
        part.space,
        subjects,
        candidates,
        benchmark.content_hash(part.preset),
    )


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


def _packed_candidate(point: Point, compiled: Compiled | None, writer: _Writer) -> PackedCandidate:
    if compiled is None:
        reason = point.violation or ""
        return PackedCandidate(point.candidate, invalidity=Invalidity.CONSTRAINTS, failure=reason)
    if compiled.code is None:
        return PackedCandidate(point.candidate, None, compiled.seconds, compiled.invalidity, compiled.failure)
    return PackedCandidate(point.candidate, writer.add_code(compiled.code), compiled.seconds)


class _Writer:
    """Writes files into a pack's folder; the plan last, so that half a pack is none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.codes: dict[str, CodeEntry] = {}
        self.byte_count = 0
        self.unfinished = Unfinished(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()) and not self.unfinished.is_there:
                raise InvalidInputError(f"{folder} isn't empty")
        except OSError as error:
            raise InvalidInputError(f"{folder}: can't be made: {error.strerror}") from None

    def add_code(self, code: Code) -> str:
        """Write some code, once; returns its hash."""
        code_hash = code.hash
        if code_hash not in self.codes:
            for other in code.others:
                self.add_code(other)
            self.codes[code_hash] = CodeEntry.of(code)
            content = code.content.encode() if isinstance(code.content, str) else code.content
            self._write(code_file(code_hash, code.form), content)
        return code_hash

    def add_benchmark(self, name: str | Path, benchmark: Benchmark, number: int) -> str:
        """Copy a user's benchmark; returns how the plan calls it."""
        if not str(name).endswith(".toml"):
            return str(name)
        description = Path(name).resolve()
        kernel = benchmark.kernel_file.resolve()
        if not kernel.is_relative_to(description.parent):
            raise InvalidInputError(f"{kernel} must be in the folder of {description}, or below, to be packed")
        folder = Path(BENCHMARK_FOLDER, str(number))
        for file in (description, kernel, *benchmark.input_files):
            target = folder / file.relative_to(description.parent)
            self._write(str(target), file.read_bytes())
        return (folder / description.name).as_posix()

    def finish(self, plan: PackPlan) -> None:
        """Write the README and the plan, which describe the other files."""
        self._write("README", README.encode())
        text = json.dumps(plan_to_json(Packed(plan, self.codes)), indent=1, ensure_ascii=False)
        self._write(PLAN_FILE, text.encode() + b"\n")
        self.unfinished.remove()

    def _write(self, path: str, data: bytes) -> None:
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(data, target)
        self.byte_count += len(data)
