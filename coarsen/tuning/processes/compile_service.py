"""The process in which candidates are compiled: clang, the coarsening, a back end, the device's own compiler."""

from __future__ import annotations

import base64
import hashlib
import itertools
import shlex
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from coarsen.devices.building import check_ways_by_barriers, most_ways_by_barriers
from coarsen.errors import CoarsenError, InternalError, InvalidInputError, RefusalError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros, device_macros
from coarsen.frontend.included import file_directives
from coarsen.frontend.lower import compile_source, lower
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.ir.graph.printer import module_text
from coarsen.ir.hashed_text import hashed_text
from coarsen.ir.kernel import Kernel, WrittenArgument
from coarsen.pipeline import CoarsenedKernel, run_pipeline
from coarsen.runtime.code import options_of_coarsened
from coarsen.tuning.measure.machine import BuildError
from coarsen.tuning.measure.opencl_machine import OpenClMachine
from coarsen.tuning.processes.child_process import Message, serve
from coarsen.tuning.processes.measure_service import benchmark_of, open_machine
from coarsen.tuning.records.code import Code, Form, LaidArgument
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.tuning.workload.padding import written_arguments
from coarsen.variant.variant import Definitions, Variant, variant_alike
from coarsen.variant.variant_json import variant_from_json


class CompileService:
    """Keeps lowered kernels, benchmarks and the device's context between requests.

    Requests of another `number` are of another sweep: for these only the context is kept.
    """

    def __init__(self) -> None:
        self._machines: dict[str, OpenClMachine] = {}
        self._number: object = None
        self._macros = PORTABLE
        self._forget()

    def _forget(self) -> None:
        self._benchmark = lru_cache(maxsize=4)(benchmark_of)
        self._unit = lru_cache(maxsize=4)(self._compile_source)
        self._lowered = lru_cache(maxsize=64)(self._lower)
        self._written = lru_cache(maxsize=64)(self._written_by)
        # Kept like the IR, with which it must go together also when the file is changed.
        self._source = lru_cache(maxsize=4)(lambda name: self._benchmark(name).source)

    def _begin(self, request: Message) -> None:
        macros = macros_for(request.get("machine"))
        if (request.get("number"), macros) != (self._number, self._macros):
            self._number, self._macros = request.get("number"), macros
            self._forget()

    def describe(self, request: Message) -> Message:
        """`benchmark`, `definitions`, `machine`: the hash of the normalised IR, and of a user's inputs."""
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
        name, candidate = request["benchmark"], variant_from_json(request["candidate"])
        try:
            if request["ir_hash"] not in (None, self._hash(name, dict(candidate.definitions))):
                return {"changed": True}
            code = self._code(name, candidate, request)
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
        benchmark, values = self._benchmark(name), tuple(sorted(definitions.items()))
        others = [self._lowered(name, values, kernel) for kernel in benchmark.other_kernels]
        return ir_hash_of(self._lowered(name, values, benchmark.kernel), benchmark, others)

    def _compile_source(self, name: str, definitions: Definitions) -> TranslationUnit:
        benchmark = self._benchmark(name)
        self._source(name)
        return compile_source(benchmark.code, build_options(benchmark, definitions), self._macros)

    def _lower(self, name: str, definitions: Definitions, kernel: str) -> Kernel:
        return lower(self._unit(name, definitions), kernel)

    def _code(self, name: str, candidate: Variant, request: Message) -> Code:
        written = self._written(name, candidate.definitions)
        return replace(self._code_alone(name, candidate, request), written=written)

    def _written_by(self, name: str, definitions: Definitions) -> tuple[WrittenArgument, ...]:
        """Return what the original kernels write; nothing where that is no padding, or they can't be read."""
        benchmark = self._benchmark(name)
        kernels = benchmark.kernel, *benchmark.other_kernels
        try:
            found = [written_arguments(self._lowered(name, definitions, kernel)) for kernel in kernels]
        except CoarsenError:
            return ()
        written = tuple(itertools.chain.from_iterable(found))
        return written if any(each.padding for each in written) else ()

    def _code_alone(self, name: str, candidate: Variant, request: Message) -> Code:
        form: Form = request["form"]
        benchmark = self._benchmark(name)
        if form == "opencl_c" and candidate.is_original:
            # What a user would run: the source as it is.
            return original_code(benchmark, candidate.definitions, self._source(name))
        code = self._coarsened(name, benchmark.kernel, candidate, request)
        others = tuple(self._others(name, candidate.definitions, form))
        alike = self._alike(name, candidate, request) if candidate.is_coarsened else ()
        return replace(code, others=others, alike=tuple(alike))

    def _coarsened(self, name: str, kernel: str, candidate: Variant, request: Message) -> Code:
        coarsened = run_pipeline(self._lowered(name, candidate.definitions, kernel), candidate)
        if candidate.adds_barriers:
            device = request["machine"]["device"] if request["machine"] else {}
            most = most_ways_by_barriers([str(device.get("platform_version", ""))])
            check_ways_by_barriers(coarsened.ways_by_barriers, most)
        return code_of(coarsened, request["form"], build_options(self._benchmark(name), candidate.definitions))

    def _alike(self, name: str, candidate: Variant, request: Message) -> Iterator[Code]:
        """The programs of other kernels that are coarsened alike; which kernel refuses is said."""
        for kernel in self._benchmark(name).coarsened_kernels:
            try:
                yield self._coarsened(name, kernel, variant_alike(candidate), request)
            except (RefusalError, InvalidInputError) as error:
                raise InvalidInputError(f"the kernel {kernel}, to be coarsened alike: {error}") from None

    def _others(self, name: str, definitions: Definitions, form: Form) -> Iterator[Code]:
        """The programs of the kernels that are not coarsened: one of all in OpenCL C, else one for each."""
        benchmark = self._benchmark(name)
        if form == "opencl_c" and benchmark.other_kernels:
            yield original_code(benchmark, definitions, self._source(name))
            return
        for kernel in benchmark.other_kernels:
            lowered = self._lowered(name, definitions, kernel)
            yield code_of(run_pipeline(lowered, Variant()), form, build_options(benchmark, definitions))

    def _binary(self, code: Code, request: Message) -> bytes | None:
        if request["machine"] is None:
            return None
        index = request["machine"]["device"]["index"]
        if index not in self._machines:
            self._machines[index] = open_machine(request["machine"])
        return self._machines[index].compile(code)


def ir_hash_of(kernel: Kernel, benchmark: Benchmark, others: Iterable[Kernel] = ()) -> str:
    """Return the hash that tells versions of a kernel apart: of its normalised IR, and of a user's inputs.

    Args:
        kernel: the benchmark's.
        benchmark: what it is of.
        others: the other kernels that its launches name.
    """
    texts = (hashed_text(module_text(each.graph)) for each in (kernel, *others))
    text, inputs = "\0\0".join(texts), benchmark.inputs_hash
    return hashlib.sha256((f"{text}\0{inputs}" if inputs else text).encode()).hexdigest()


def macros_for(machine: Mapping[str, Any] | None) -> DeviceMacros:
    """Return the macros of what `machine_to_json` describes; the portable ones where that isn't known."""
    device = machine["device"] if machine else {}
    extensions = device.get("extensions", "")
    return device_macros(extensions, device.get("version", "")) if extensions else PORTABLE


def build_options(benchmark: Benchmark, definitions: Definitions) -> tuple[str, ...]:
    """Return a benchmark's build options with macro values, one by one."""
    return (*benchmark.build_options, *(f"-D{name}={value}" for name, value in definitions))


def original_code(benchmark: Benchmark, definitions: Definitions, source: str) -> Code:
    """Return a benchmark's kernel as it was written; its folder is where its own includes are looked for."""
    options = (*build_options(benchmark, definitions), *_include_options(benchmark, source))
    return Code("opencl_c", benchmark.kernel, source, options, kernels=benchmark.other_kernels)


def _include_options(benchmark: Benchmark, source: str) -> tuple[str, ...]:
    if benchmark.source_text or not has_includes(source):
        return ()
    return (f"-I{shlex.quote(str(benchmark.kernel_file.parent))}",)


def has_includes(source: str) -> bool:
    """Return True if OpenCL C source may include files."""
    return next(file_directives(source), None) is not None


def code_of(coarsened: CoarsenedKernel, form: Form, options: tuple[str, ...]) -> Code:
    """Return a coarsened kernel as a device is given it.

    Raises:
        RefusalError: the form can't express it.
        InvalidInputError: PTX, which is measured no more.
    """
    if form == "ptx":
        raise InvalidInputError("devices are given OpenCL C or SPIR-V; `coarsen apply --emit ptx` writes PTX")
    made = Code(
        form,
        coarsened.kernel.name,
        "",
        added_arguments=coarsened.added_arguments,
        arrays=tuple(_laid_arguments(coarsened)),
        placed=coarsened.placed_arguments,
    )
    if form == "spirv":
        return replace(made, content=coarsened.spirv)
    left = options_of_coarsened(options)
    return replace(made, content=coarsened.opencl_c, options=(*left, coarsened.opencl_c_standard))


def _laid_arguments(coarsened: CoarsenedKernel) -> Iterator[LaidArgument]:
    """The arguments whose arrays a launch has to pack."""
    names = [argument.name for argument in coarsened.kernel.arguments]
    for array in coarsened.arrays:
        if not array.arrangement.is_as_written:
            yield LaidArgument.of(array.argument, names.index(array.argument), array.arrangement)


def main() -> int:
    """Serve until the parent has no more requests."""
    warnings.simplefilter("ignore")
    service = CompileService()
    serve({"describe": service.describe, "compile": service.compile})
    return 0


if __name__ == "__main__":
    sys.exit(main())
