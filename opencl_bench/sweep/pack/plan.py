"""A pack: which configurations of which benchmarks to measure, and their code, as files of a folder.

    DIR/plan.json              the sweeps
    DIR/code/<SHA-256>.json    each distinct code once, named by its content
    DIR/benchmarks/<number>/   a user's benchmark: its TOML file and its kernel

Needs nothing but Python and NumPy: it is read where a pack is run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from coarsen.base.codec import decoded, encoded
from coarsen.base.files import read_file
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.included_files import check_alone
from coarsen.tuning.engine.plan import Point
from coarsen.tuning.measure.machine import Versions
from coarsen.tuning.processes.compiler import Compiled
from coarsen.tuning.records.code import Code, Form, code_from_json
from coarsen.tuning.records.measurement import Invalidity, Method, Subject
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.tuning.workload.launch_list import LAUNCH_SUFFIXES
from coarsen.variant.variant import Definitions, Variant
from coarsen.variant.variant_json import variant_from_json, variant_to_json

FORMAT = 9
PLAN_FILE = "plan.json"
BENCHMARK_FOLDER = "benchmarks"
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class PackedCandidate:
    """A configuration of a pack: the key of its code, or why it has none.

    `invalidity` is then `compile` or `timeout`; `constraints` where it wasn't compiled since it breaks a limit
    that the pack was made for. `seconds` is how long the compilation took.
    """

    candidate: Variant
    code: str | None = None
    seconds: float = 0.0
    invalidity: Invalidity = Invalidity.CORRECT
    failure: str = ""


@dataclass(frozen=True, slots=True)
class PackedSweep:
    """The sweep of one benchmark with code of one form.

    `benchmark` is a name of the suite, or the path of a TOML file within the pack. `subjects` holds the subject of
    each set of macro values; `content_hash` is the benchmark's at the preset.
    """

    benchmark: str
    preset: str
    seed: int
    form: Form
    method: Method
    subjects: tuple[tuple[Definitions, Subject], ...]
    candidates: tuple[PackedCandidate, ...]
    content_hash: str

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return self.subjects[0][1].benchmark

    @property
    def codes(self) -> tuple[str, ...]:
        """The keys of all codes, in the order of the candidates."""
        return tuple(dict.fromkeys(each.code for each in self.candidates if each.code is not None))

    def of(self, definitions: Definitions) -> Subject:
        """See `rows.Subjects`: the subject of some macro values. Raises InvalidInputError where there is none."""
        found = dict(self.subjects).get(definitions)
        if found is None:
            raise InvalidInputError(f"the pack does not know the macro values {dict(definitions)}")
        return found


@dataclass(frozen=True, slots=True)
class PackPlan:
    """All sweeps of a pack. `versions` are those of what made the code."""

    format: int
    versions: Versions
    sweeps: tuple[PackedSweep, ...]


def plan_to_json(plan: PackPlan) -> dict[str, Any]:
    """Return the plan as dictionaries, lists, texts and numbers; `plan_from_json` reads it back."""
    value: dict[str, Any] = encoded(plan, {Variant: variant_to_json})
    return value


def plan_from_json(value: object) -> PackPlan:
    """Return the plan that `plan_to_json` wrote. Raises InvalidInputError where it is none that can be read."""
    made_as = value.get("format") if isinstance(value, dict) else None
    if made_as != FORMAT:
        raise InvalidInputError(
            f"the plan has format {made_as!a}; this version of coarsen reads format {FORMAT}: write the pack anew"
        )
    plan = decoded(PackPlan, value, "the pack", {Variant: variant_from_json})
    for sweep in plan.sweeps:
        _check_sweep(sweep)
    return plan


def _check_sweep(sweep: PackedSweep) -> None:
    path = PurePosixPath(sweep.benchmark)
    if path.is_absolute() or ".." in path.parts:
        raise InvalidInputError(f"the plan is damaged: the path {sweep.benchmark!a} leads out of the pack")
    if not sweep.subjects or not sweep.candidates:
        raise InvalidInputError(f"the plan is damaged: the sweep of {sweep.benchmark!a} has no candidates")
    for key in sweep.codes:
        # Keys become paths.
        if not _HASH.fullmatch(key):
            raise InvalidInputError(f"the plan is damaged: {key[:64]!a} is no hash")


def code_file(key: str) -> str:
    """Return the path of a code's file within the pack."""
    return f"code/{key}.json"


def code_to_file(code: Code) -> tuple[str, bytes]:
    """Return the key of some code, and the content of its file."""
    data = json.dumps(code.to_json(), ensure_ascii=False, indent=1, sort_keys=True).encode()
    return key_of(data), data


def key_of(data: bytes) -> str:
    """Return what a file of code is called: the SHA-256 of its content."""
    return hashlib.sha256(data).hexdigest()


class Pack:
    """A pack in a folder.

    Attributes:
        plan: of the measurements.

    Raises:
        InvalidInputError: there is none, or it is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = self.path_of(PLAN_FILE)
        if not path.exists():
            raise InvalidInputError(f"{folder} is no pack: it has no {PLAN_FILE}")
        self.plan = plan_from_json(_json(read_file(path), path))

    def path_of(self, name: str) -> Path:
        """Return the path of a file of the pack. Raises InvalidInputError where a part of it is a link."""
        path = self.folder
        for part in Path(name).parts:
            path /= part
            if path.is_symlink():
                raise InvalidInputError(f"{path} is a link; a pack holds files and folders only")
        return path

    def code(self, key: str) -> Code:
        """Return the code of this key. Raises InvalidInputError where its file is missing or changed."""
        path = self.path_of(code_file(key))
        data = read_file(path)
        if key_of(data) != key:
            raise InvalidInputError(f"{path} is not what the pack was made with")
        code = code_from_json(_json(data, path))
        for text in _texts(code):
            check_alone(text, str(path))
        return code

    def benchmark(self, sweep: PackedSweep) -> str:
        """Return a sweep's benchmark as `find_benchmark` takes it. Raises InvalidInputError as `path_of` does."""
        name = sweep.benchmark
        return str(self.path_of(name).resolve()) if name.endswith(LAUNCH_SUFFIXES) else name

    def check_kernel_file(self, benchmark: Benchmark) -> None:
        """Raise InvalidInputError where a benchmark of the pack has its kernel elsewhere."""
        if benchmark.source_file is None:
            return
        folder, file = self.folder.resolve(), Path(os.path.normpath(benchmark.source_file))
        if not file.is_relative_to(folder):
            raise InvalidInputError(f"the kernel of {benchmark.name}, {file}, is not in the pack")
        self.path_of(str(file.relative_to(folder)))


def _json(data: bytes, path: Path) -> object:
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        raise InvalidInputError(f"{path} is no JSON") from None
    return value


def _texts(code: Code) -> Iterator[str]:
    """Yield the OpenCL C of a code, which could read files where it is compiled."""
    if code.form == "opencl_c":
        yield str(code.content)
    for other in code.others:
        yield from _texts(other)


class PackedCodes:
    """The code of a sweep's candidates, compiled when the pack was made.

    Args:
        pack: the pack.
        sweep: one of its sweeps.
    """

    def __init__(self, pack: Pack, sweep: PackedSweep) -> None:
        self._pack = pack
        self._candidates = {packed.candidate: packed for packed in sweep.candidates}
        self._originals = {
            packed.candidate.definitions: packed
            for packed in sweep.candidates
            if packed.candidate.is_original and packed.code is not None
        }

    def ahead(self, candidate: Variant) -> Future[Compiled]:
        """See `rows.Codes`: it is there already."""
        future: Future[Compiled] = Future()
        future.set_result(self.compiled(candidate))
        return future

    def compiled(self, candidate: Variant) -> Compiled:
        """See `rows.Codes`. Raises InvalidInputError where the pack is damaged."""
        packed = self._candidates.get(candidate, _NOT_PACKED)
        if packed.code is None and candidate.is_original:
            # One code serves all local sizes, also those that only a coarsened kernel can have.
            packed = self._originals.get(candidate.definitions, packed)
        if packed.code is None:
            return Compiled(None, None, packed.seconds, packed.invalidity, packed.failure)
        return Compiled(self._pack.code(packed.code), None, packed.seconds)

    def with_limits_of_pack(self, point: Point) -> Point:
        """Return a point of the device's space, with the violation for which the pack has no code of it."""
        if point.violation is not None:
            return point
        packed = self._candidates.get(point.candidate, _NOT_PACKED)
        return Point(point.candidate, packed.failure if packed.invalidity is Invalidity.CONSTRAINTS else None)


_NOT_PACKED = PackedCandidate(Variant(), invalidity=Invalidity.CONSTRAINTS, failure="the pack was made without it")
