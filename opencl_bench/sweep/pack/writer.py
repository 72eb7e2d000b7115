"""Writes the files of a pack into its folder, the plan last, so that half a pack is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.files import replace_file
from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.sweep.pack.plan import (
    BENCHMARK_FOLDER,
    PLAN_FILE,
    CodeEntry,
    Packed,
    PackPlan,
    code_file,
    keys_of,
)
from coarsen.opencl_bench.sweep.pack.plan_json import plan_to_json
from coarsen.opencl_bench.sweep.pack.unfinished import Unfinished
from coarsen.opencl_bench.workloads.benchmark import Benchmark

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
