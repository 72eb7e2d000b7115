"""Writes a pack: candidates compiled here, to be measured on a machine where the compiler isn't.

    benchmarks × forms ─▶ points of the space ─▶ code, each distinct one once ─▶ DIR

A candidate that can't be compiled is part of the plan, with the reason; so are those that break a limit.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from coarsen.base.codec import encoded
from coarsen.base.files import read_file, replace_file
from coarsen.errors import InvalidInputError
from coarsen.frontend.source_hash import hash_with_headers
from coarsen.opencl_bench.sweep.pack.plan import (
    BENCHMARK_FOLDER,
    PLAN_FILE,
    CodeEntry,
    Packed,
    PackedCandidate,
    PackedSweep,
    PackPlan,
    code_file,
    keys_of,
    plan_from_json,
    plan_to_json,
)
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.runtime.text_cache.versions import versions
from coarsen.tuning.engine.plan import DeviceLimits, Point, Space, points
from coarsen.tuning.measure.environment import installed_versions
from coarsen.tuning.processes.compile_service import has_includes
from coarsen.tuning.processes.compiler import Compiled, CompiledSubjects, CompilePool, Compiler
from coarsen.tuning.records.code import Code, Form
from coarsen.tuning.records.measurement import Invalidity, Method, Subject
from coarsen.tuning.workload.benchmark import Benchmark, Definitions
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


README = """\
Measures coarsened OpenCL kernels: needs Python 3.11 or later, NumPy, PyOpenCL (or cuda-bindings) and coarsen
(`pip install --no-deps coarsen`); no compiler. In this folder: `python -m coarsen.opencl_bench.run_pack .`
writes results.jsonl; take that back, to `coarsen results import`. `--help` lists the options.
"""


class PackWriter:
    """A pack that is being written.

    Args:
        folder: made; must not exist, be empty, or hold what an interrupted call has left.

    Raises:
        InvalidInputError: it can't be used.
    """

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
        """Write some code, once; returns its key in the plan."""
        entry = CodeEntry.of(code, tuple(map(self.add_code, code.others)))
        # Two kernels of one source, with the same options, have the same hash.
        key = next(key for key in keys_of(code) if self.codes.get(key, entry) == entry)
        if key not in self.codes:
            self.codes[key] = entry
            content = code.content.encode() if isinstance(code.content, str) else code.content
            self._write(code_file(key, code.form), content)
        return key

    def can_take(self, codes: Mapping[str, CodeEntry]) -> bool:
        """Return True if entries that were written before say nothing else than those that are there."""
        return all(self.codes.get(key, entry) == entry for key, entry in codes.items())

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
            if not file.resolve().is_relative_to(description.parent):
                raise InvalidInputError(f"{file} must be in the folder of {description}, or below, to be packed")
            target = folder / file.resolve().relative_to(description.parent)
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


# What an interrupted writing of a pack has left: sweeps that are packed, so that the next call goes on.
#
# DIR/unfinished/<key>.json   a plan of one sweep, whose code is in DIR/code already

FOLDER = "unfinished"


def key_of(content: object) -> str:
    """Return the key of a sweep: a hash of all that it is packed from, as JSON takes it."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class Unfinished:
    """The packed sweeps of a pack that isn't complete.

    Args:
        folder: of the pack.
    """

    def __init__(self, folder: Path) -> None:
        self._pack = folder
        self._folder = folder / FOLDER

    @property
    def is_there(self) -> bool:
        """Return True if a call was interrupted."""
        return self._folder.is_dir()

    def find(self, key: str) -> Packed | None:
        """Return the sweep of this key; None where there is none, or some of its code isn't there."""
        with contextlib.suppress(OSError, ValueError, InvalidInputError):
            packed = plan_from_json(json.loads(read_file(self._folder / f"{key}.json")))
            files = [code_file(code_hash, entry.form) for code_hash, entry in packed.codes.items()]
            if all((self._pack / file).is_file() for file in files):
                return packed
        return None

    def add(self, key: str, packed: Packed) -> None:
        """Keep a sweep."""
        self._folder.mkdir(parents=True, exist_ok=True)
        replace_file(json.dumps(plan_to_json(packed), ensure_ascii=False).encode(), self._folder / f"{key}.json")

    def remove(self) -> None:
        """Forget all: the pack is complete."""
        shutil.rmtree(self._folder, ignore_errors=True)
