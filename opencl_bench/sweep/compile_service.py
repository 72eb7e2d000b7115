"""The process in which candidates are compiled: clang, the coarsening, a back end, the device's own compiler."""

from __future__ import annotations

import base64
import hashlib
import shlex
import sys
import time
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from coarsen.api import CoarsenedKernel
from coarsen.errors import CoarsenError, InternalError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.ir.printer import module_text
from coarsen.opencl_bench.measure.machine import BuildError
from coarsen.opencl_bench.measure.opencl_machine import OpenClMachine
from coarsen.opencl_bench.records.candidate import Candidate, Code, Definitions, Form, candidate_from_json
from coarsen.opencl_bench.sweep.measure_service import open_machine
from coarsen.opencl_bench.sweep.serving import Message, serve
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.included_files import file_directives
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.pipeline import coarsen_kernel
from coarsen.runtime.build_options import options_of_coarsened
from coarsen.variant.transforms import Transforms, device_kind_of

PTX_ARCHITECTURE = "sm_75"


class CompileService:
    """Keeps lowered kernels, benchmarks and the device's context between requests.

    Requests of another `number` are of another sweep: for these only the context is kept.
    """

    def __init__(self) -> None:
        self._machines: dict[str, OpenClMachine] = {}
        self._number: object = None
        self._forget()

    def _forget(self) -> None:
        self._benchmark = lru_cache(maxsize=4)(find_benchmark)
        self._lowered = lru_cache(maxsize=16)(self._lower)
        # Kept like the IR, with which it must go together also when the file is changed.
        self._source = lru_cache(maxsize=4)(lambda name: self._benchmark(name).source)

    def _begin(self, request: Message) -> None:
        if request.get("number") != self._number:
            self._number = request.get("number")
            self._forget()

    def describe(self, request: Message) -> Message:
        """`benchmark`, `definitions`: the hash of the normalised IR, and of a user's inputs."""
        self._begin(request)
        try:
            return {"ok": True, "ir_hash": self._hash(request["benchmark"], request["definitions"])}
        except CoarsenError as error:
            return {"failed": str(error)}

    def compile(self, request: Message) -> Message:
        """`benchmark`, `candidate`, `form`, `machine` (or null): the code, and the device's binary of it.

        `ir_hash` is what `describe` said, null where it failed; `changed` is the answer where it is another now.
        """
        start = time.perf_counter()
        self._begin(request)
        name, candidate = request["benchmark"], candidate_from_json(request["candidate"])
        try:
            if request["ir_hash"] not in (None, self._hash(name, dict(candidate.definitions))):
                return {"changed": True}
            code = self._code(name, candidate, request["form"], transforms_for(request["machine"]))
            binary = self._binary(code, request)
        except (CoarsenError, BuildError) as error:
            if isinstance(error, InternalError):
                raise
            return {"failed": str(error)}
        return {
            "ok": True,
            "code": code.to_json(),
            "binary": base64.b64encode(binary).decode() if binary else None,
            "seconds": time.perf_counter() - start,
        }

    def _hash(self, name: str, definitions: Mapping[str, str]) -> str:
        return ir_hash_of(self._lowered(name, tuple(sorted(definitions.items()))), self._benchmark(name))

    def _lower(self, name: str, definitions: Definitions) -> Kernel:
        benchmark = self._benchmark(name)
        self._source(name)
        return lower(benchmark.code, benchmark.kernel, build_options(benchmark, definitions))

    def _code(self, name: str, candidate: Candidate, form: Form, transforms: Transforms) -> Code:
        benchmark = self._benchmark(name)
        if form == "opencl_c" and not candidate.coarsenings:
            # What a user would run: the source as it is.
            return original_code(benchmark, candidate.definitions, self._source(name))
        lowered = self._lowered(name, candidate.definitions)
        kernel = coarsen_kernel(lowered, candidate.coarsenings, transforms=transforms)
        coarsened = CoarsenedKernel(kernel, candidate.coarsenings, ())
        return code_of(coarsened, form, build_options(benchmark, candidate.definitions))

    def _binary(self, code: Code, request: Message) -> bytes | None:
        if request["machine"] is None:
            return None
        index = request["machine"]["device"]["index"]
        if index not in self._machines:
            machine = open_machine(request["machine"])
            if not isinstance(machine, OpenClMachine):
                raise InternalError("binaries are made by OpenCL devices")
            self._machines[index] = machine
        return self._machines[index].compile(code)


def ir_hash_of(kernel: Kernel, benchmark: Benchmark) -> str:
    """What tells versions of a kernel apart: the hash of its normalised IR, and of a user's inputs."""
    text, inputs = module_text(kernel), benchmark.inputs_hash
    return hashlib.sha256((f"{text}\0{inputs}" if inputs else text).encode()).hexdigest()


def transforms_for(machine: Mapping[str, Any] | None) -> Transforms:
    """The default transforms for what `machine_to_json` describes; for any device where that isn't known."""
    types = machine["device"]["device_types"] if machine and "device" in machine else ()
    return Transforms(device_kind=device_kind_of(types))


def build_options(benchmark: Benchmark, definitions: Definitions) -> tuple[str, ...]:
    """A benchmark's build options with macro values, one by one."""
    return (*benchmark.build_options, *(f"-D{name}={value}" for name, value in definitions))


def original_code(benchmark: Benchmark, definitions: Definitions, source: str) -> Code:
    """A benchmark's kernel as it was written; its folder is where its own includes are looked for."""
    options = (*build_options(benchmark, definitions), *_include_options(benchmark, source))
    return Code("opencl_c", benchmark.kernel, source, options)


def _include_options(benchmark: Benchmark, source: str) -> tuple[str, ...]:
    if benchmark.source_text or not has_includes(source):
        return ()
    return (f"-I{shlex.quote(str(benchmark.kernel_file.parent))}",)


def has_includes(source: str) -> bool:
    """Whether OpenCL C source may include files."""
    return next(file_directives(source), None) is not None


def code_of(coarsened: CoarsenedKernel, form: Form, options: tuple[str, ...]) -> Code:
    """A coarsened kernel as a device is given it. Raises RefusalError where the form can't express it."""
    name = coarsened.kernel.name
    if form == "ptx":
        return Code(form, name, coarsened.ptx(PTX_ARCHITECTURE))
    if form == "spirv":
        return Code(form, name, coarsened.spirv)
    left = options_of_coarsened(options)
    return Code(form, name, coarsened.opencl_c, (*left, coarsened.opencl_c_standard))


def main() -> int:
    """Serve until the parent has no more requests."""
    warnings.simplefilter("ignore")
    service = CompileService()
    serve({"describe": service.describe, "compile": service.compile})
    return 0


if __name__ == "__main__":
    sys.exit(main())
