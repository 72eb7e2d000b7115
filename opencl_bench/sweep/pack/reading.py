"""A pack that lies in a folder: its plan, and its code when a sweep needs it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from coarsen.base.files import read_file
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep.pack.plan import (
    PLAN_FILE,
    Packed,
    PackedCandidate,
    PackedSweep,
    PackPlan,
    code_file,
    keys_of,
    plan_from_json,
)
from coarsen.opencl_bench.workloads.included_files import check_alone
from coarsen.tuning.engine.plan import Point
from coarsen.tuning.processes.compiler import Compiled
from coarsen.tuning.records.code import Code
from coarsen.tuning.records.measurement import Invalidity, Subject
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.variant import Definitions, Variant


class Pack:
    """A pack in a folder.

    Raises:
        InvalidInputError: there is none, or it is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._packed = _read_plan(self.path_of(PLAN_FILE))

    def path_of(self, name: str) -> Path:
        """Return the path of a file of the pack. Raises InvalidInputError where a part of it is a link."""
        path = self.folder
        for part in Path(name).parts:
            path /= part
            if path.is_symlink():
                raise InvalidInputError(f"{path} is a link; a pack holds files and folders only")
        return path

    @property
    def plan(self) -> PackPlan:
        """The plan of the measurements."""
        return self._packed.plan

    def code(self, key: str) -> Code:
        """Return the code of this key. Raises InvalidInputError where its file is missing or changed."""
        entry = self._packed.codes[key]
        path = self.path_of(code_file(key, entry.form))
        try:
            contents = read_file(path)
            content = contents if entry.form == "spirv" else contents.decode()
        except UnicodeDecodeError as error:
            raise InvalidInputError(f"{path}: can't be read: {error}") from None
        others = tuple(map(self.code, entry.others))
        code = Code(
            entry.form,
            entry.kernel,
            content,
            entry.options,
            entry.added_arguments,
            entry.kernels,
            others,
            entry.arrays,
            entry.placed,
            entry.written,
        )
        if key not in keys_of(code):
            raise InvalidInputError(f"{path} is not what the pack was made with")
        if isinstance(content, str) and entry.form == "opencl_c":
            check_alone(content, str(path))
        return code

    def benchmark(self, sweep: PackedSweep) -> str:
        """Return a sweep's benchmark as `find_benchmark` takes it. Raises InvalidInputError as `path_of` does."""
        name = sweep.benchmark
        return str(self.path_of(name).resolve()) if name.endswith(".toml") else name

    def check_kernel_file(self, benchmark: Benchmark) -> None:
        """Raise InvalidInputError where a benchmark of the pack has its kernel elsewhere."""
        if benchmark.source_file is None:
            return
        folder, file = self.folder.resolve(), Path(os.path.normpath(benchmark.source_file))
        if not file.is_relative_to(folder):
            raise InvalidInputError(f"the kernel of {benchmark.name}, {file}, is not in the pack")
        self.path_of(str(file.relative_to(folder)))


class PackedCodes:
    """The code of a sweep's candidates, compiled when the pack was made.

    Args:
        pack: the pack.
        sweep: one of its sweeps.
        binary_of: gives the device's binary of a code by its key, in base64, where it was built ahead.
    """

    def __init__(
        self, pack: Pack, sweep: PackedSweep, binary_of: Callable[[str], str | None] = lambda _hash: None
    ) -> None:
        self._pack = pack
        self._binary_of = binary_of
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
        return Compiled(self._pack.code(packed.code), self._binary_of(packed.code), packed.seconds)

    def with_limits_of_pack(self, point: Point) -> Point:
        """Return a point of the device's space, with the violation for which the pack has no code of it."""
        if point.violation is not None:
            return point
        packed = self._candidates.get(point.candidate, _NOT_PACKED)
        return Point(point.candidate, packed.failure if packed.invalidity is Invalidity.CONSTRAINTS else None)


_NOT_PACKED = PackedCandidate(Variant(), invalidity=Invalidity.CONSTRAINTS, failure="the pack was made without it")


class PackedSubjects:
    """The subjects of a sweep, found out when the pack was made."""

    def __init__(self, sweep: PackedSweep) -> None:
        self._subjects = dict(sweep.subjects)

    def of(self, definitions: Definitions) -> Subject:
        """See `rows.Subjects`."""
        if definitions not in self._subjects:
            raise InvalidInputError(f"the pack does not know the macro values {dict(definitions)}")
        return self._subjects[definitions]


def _read_plan(path: Path) -> Packed:
    if not path.exists():
        raise InvalidInputError(f"{path.parent} is no pack: it has no {path.name}")
    try:
        return plan_from_json(json.loads(read_file(path)))
    except RecursionError:
        raise InvalidInputError(f"{path} is no JSON") from None
    except ValueError:
        raise InvalidInputError(f"{path} is no JSON") from None
