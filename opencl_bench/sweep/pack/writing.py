"""Writes a pack: candidates compiled here, to be measured on a machine where the compiler isn't.

    benchmarks × forms ─▶ points of the space ─▶ code, each distinct one once ─▶ DIR

A candidate that can't be compiled is part of the plan, with the reason; so are those that break a limit.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from coarsen.base.files import replace_file
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep.pack.plan import (
    BENCHMARK_FOLDER,
    FORMAT,
    PLAN_FILE,
    PackedCandidate,
    PackedSweep,
    PackPlan,
    code_file,
    code_to_file,
    plan_to_json,
)
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.plan import DeviceLimits, Point, Space, points
from coarsen.tuning.measure.machine import installed_versions
from coarsen.tuning.processes.compile_service import has_includes
from coarsen.tuning.processes.compiler import Compiled, CompiledSubjects, CompilePool, Compiler
from coarsen.tuning.records.code import Code, Form
from coarsen.tuning.records.measurement import Invalidity, Method
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.tuning.workload.launch_list import LAUNCH_SUFFIXES
from coarsen.variant.transforms import DeviceKind

# The limits that every GPU of the last ten years has at least.
USUAL_LIMITS = DeviceLimits(max_work_group_size=1024, max_work_item_sizes=(1024, 1024, 64), local_memory=48 << 10)
PACKAGES = ("coarsen", "llvmlite")


@dataclass(frozen=True, slots=True)
class PackPart:
    """A benchmark (a name of the suite or the path of a TOML file), the preset and the space to pack."""

    benchmark: str | Path
    preset: str
    space: Space


@dataclass(frozen=True, slots=True)
class PackRequest:
    """The request for a pack; `device_kind` is that of the devices it is made for."""

    parts: tuple[PackPart, ...]
    forms: tuple[Form, ...] = ("opencl_c",)
    seed: int = 0
    method: Method = field(default_factory=Method)
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
    """Write a pack.

    Args:
        request: what it is to hold.
        folder: made; must not exist, or be empty.
        progress: called with one line on what is being compiled.

    Raises:
        InvalidInputError: no such benchmark or preset, nothing that could be packed, a folder that can't be used.
    """
    benchmarks = [find_benchmark(part.benchmark) for part in request.parts]
    for part, benchmark in zip(request.parts, benchmarks, strict=True):
        benchmark.preset(part.preset)
    writer = PackWriter(folder)
    sweeps, left_out = [], []
    with CompilePool() as pool:
        for number, (part, benchmark) in enumerate(zip(request.parts, benchmarks, strict=True)):
            for form in request.forms:
                progress(f"{benchmark.name}, {form}")
                try:
                    with Compiler(str(part.benchmark), form, None, request.method, pool) as compiler:
                        sweep = _packed_sweep(request, part, benchmark, form, writer, compiler)
                except InvalidInputError as error:
                    left_out.append(f"{benchmark.name} as {form}: {error}")
                    continue
                sweeps.append(replace(sweep, benchmark=writer.add_benchmark(part.benchmark, benchmark, number)))
    if not sweeps:
        raise InvalidInputError(f"there is nothing to pack: {'; '.join(left_out)}")
    writer.finish(PackPlan(FORMAT, installed_versions(PACKAGES), tuple(sweeps)))
    codes = {key for sweep in sweeps for key in sweep.codes}
    return PackSummary(tuple(sweeps), len(codes), writer.byte_count, tuple(left_out))


def _packed_sweep(
    request: PackRequest, part: PackPart, benchmark: Benchmark, form: Form, writer: PackWriter, compiler: Compiler
) -> PackedSweep:
    space = points(benchmark, part.preset, part.space, USUAL_LIMITS, request.device_kind)
    if form == "opencl_c" and has_includes(benchmark.source):
        raise InvalidInputError("its source includes files, which a pack does not hold; pack it as spirv")
    name = str(part.benchmark)
    for point in space:
        if point.violation is None:
            compiler.ahead(point.candidate)
    subjects = CompiledSubjects(benchmark, part.preset, request.seed, compiler.ir_hash)
    definitions = dict.fromkeys(point.candidate.definitions for point in space)
    known = tuple((values, subjects.of(values)) for values in definitions)
    candidates = tuple(
        _packed_candidate(point, None if point.violation else compiler.compiled(point.candidate), writer)
        for point in space
    )
    asked = name, part.preset, request.seed, form, request.method
    return PackedSweep(*asked, known, candidates, benchmark.content_hash(part.preset))


def _packed_candidate(point: Point, compiled: Compiled | None, writer: PackWriter) -> PackedCandidate:
    if compiled is None:
        reason = point.violation or ""
        return PackedCandidate(point.candidate, invalidity=Invalidity.CONSTRAINTS, failure=reason)
    if compiled.code is None:
        return PackedCandidate(point.candidate, None, compiled.seconds, compiled.invalidity, compiled.failure)
    return PackedCandidate(point.candidate, writer.add_code(compiled.code), compiled.seconds)


README = """\
Measures coarsened OpenCL kernels: needs Python 3.11 or later, NumPy, PyOpenCL and coarsen
(`pip install --no-deps coarsen`); no compiler. In this folder: `python -m coarsen.opencl_bench.run_pack .`
writes results.jsonl; take that back, to `coarsen results import`. `--help` lists the options.
"""


class PackWriter:
    """A pack that is being written.

    Args:
        folder: made; must not exist, or be empty.

    Raises:
        InvalidInputError: it can't be used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.byte_count = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise InvalidInputError(f"{folder} isn't empty")
        except OSError as error:
            raise InvalidInputError(f"{folder}: can't be made: {error.strerror}") from None

    def add_code(self, code: Code) -> str:
        """Write some code, once; returns its key."""
        key, data = code_to_file(code)
        if not (self._folder / code_file(key)).is_file():
            self._write(code_file(key), data)
        return key

    def add_benchmark(self, name: str | Path, benchmark: Benchmark, number: int) -> str:
        """Copy a user's benchmark; returns how the plan calls it."""
        if not str(name).endswith(LAUNCH_SUFFIXES):
            return str(name)
        description = Path(name).resolve()
        folder = Path(BENCHMARK_FOLDER, str(number))
        own = [] if benchmark.source_file is None else [benchmark.source_file.resolve()]
        for file in (description, *own, *benchmark.input_files):
            if not file.resolve().is_relative_to(description.parent):
                raise InvalidInputError(f"{file} must be in the folder of {description}, or below, to be packed")
            target = folder / file.resolve().relative_to(description.parent)
            self._write(str(target), file.read_bytes())
        return (folder / description.name).as_posix()

    def finish(self, plan: PackPlan) -> None:
        """Write the README and the plan, which describe the other files."""
        self._write("README", README.encode())
        self._write(PLAN_FILE, json.dumps(plan_to_json(plan), indent=1, ensure_ascii=False).encode() + b"\n")

    def _write(self, path: str, data: bytes) -> None:
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(data, target)
        self.byte_count += len(data)
