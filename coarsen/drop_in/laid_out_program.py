"""A program whose kernels work on arrays that lie otherwise, coarsened as `coarsen.Program` does it.

    program = coarsen.LaidOutProgram(context, source, {"bodies": coarsen.Layout.soa(body)}, factor=4).build()
    bodies = coarsen.LaidOutArray(queue, coarsen.Layout.soa(body), host)       # packed, once
    program.grow(queue, (1000,), (50,), bodies)
    host = bodies.get(queue)                                                   # unpacked, when asked for

    source ─▶ each kernel with such an argument rewritten, as OpenCL C ─▶ coarsen.Program of it
           └▶ the other kernels ───────────────────────────────────────▶ coarsen.Program of the source

Nothing is converted but by a `LaidOutArray`. A launch checks that each array lies as its kernel wants it. Of a
tuned file a rewritten kernel runs the version for arrays that lie so.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import pyopencl

from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.devices.discovery import common_macros_of
from coarsen.dispatch.tuned_file import LaidOutVersion, TunedFile
from coarsen.drop_in.mode import REMEMBERED
from coarsen.drop_in.program import Program
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import list_kernels, lower
from coarsen.ir.kernel import Kernel
from coarsen.near_names import did_you_mean
from coarsen.pipeline import LaidOutKernel as Rewritten
from coarsen.pipeline import laid_out
from coarsen.runtime.build_options import BuildOptions, device_options, options_of_coarsened
from coarsen.runtime.layouts.laid_out_kernel import LaidOutKernel, LaidOutSignature
from coarsen.runtime.layouts.layout import Layout
from coarsen.runtime.program import Program as RuntimeProgram
from coarsen.runtime.text_cache.location import CacheFolder
from coarsen.runtime.tuned_building import VersionAdvisor
from coarsen.runtime.tuned_checks import problem_of_device, problem_of_program
from coarsen.runtime.tuned_choice import tuned_files
from coarsen.variant.data_plan import ArrayPlan

# The options that a version of a tuned file takes the place of.
_CHOICES = frozenset({"tune", "factor", "dim", "stride", "level", "distinct"})

_log = logging.getLogger("coarsen")


class LaidOutProgram:
    """A program from OpenCL C in which some arguments' arrays lie otherwise than in the source.

    Args:
        context: to build for.
        source: OpenCL C.
        arrays: how they lie, by the names of the arguments: in each kernel that has an argument of the name.
        options: as `coarsen.Program` takes them by name: `factor`, `dim`, `tune` and so on. Those that name
            kernels name those of the source. Of a file that is `tuned`, a rewritten kernel runs the version for
            arrays that lie so; where it has none, or can't be used here, as without the file, which is logged.

    Raises:
        InvalidInputError: a tuned file that can't be read, or not be used beside the rest.
    """

    def __init__(
        self,
        context: pyopencl.Context,
        source: str,
        arrays: Mapping[str, Layout],
        **options: Any,  # noqa: ANN401 (those of another signature)
    ) -> None:
        self._context = context
        self._source = source
        self._arrays = dict(arrays)
        tuned = options.pop("tuned", None)
        self._files = tuned_files(
            None if tuned == REMEMBERED else tuned, options.get("factor"), options.get("form", "opencl_c")
        )
        # What is remembered is of the source: kernels that are rewritten have none of it.
        self._remembered = {"tuned": REMEMBERED} if tuned == REMEMBERED else {}
        self._options = options
        self._programs: dict[str, RuntimeProgram] = {}
        self._signatures: dict[str, LaidOutSignature] = {}

    def build(
        self,
        options: BuildOptions = None,
        devices: Sequence[pyopencl.Device] | None = None,
        cache_dir: CacheFolder = None,
    ) -> Self:
        """Rewrite the kernels and build them; arguments and returned value as of `coarsen.Program.build`.

        Raises:
            InvalidInputError: no kernel has an argument of a name; its elements are others than the host's.
            RefusalError: a kernel can't be laid out so, or not coarsened as was asked for.
        """
        macros = common_macros_of(devices or self._context.devices)
        given = device_options(options)
        lowered = {
            name: lower(self._source, name, given, macros) for name in list_kernels(self._source, given, macros)
        }
        self._check_names(lowered.values())
        settings = _Build(options, tuple(devices or self._context.devices))
        plain: Program | None = None
        for name, kernel in lowered.items():
            rewritten = self._rewritten(kernel)
            if rewritten is None:
                if plain is None:
                    files = [file for file in self._files if not self._plans(lowered.get(file.kernel))]
                    tuned = {"tuned": files} if files else self._remembered
                    plain = Program(self._context, self._source, **tuned, **self._options)
                    plain.build(options, devices, cache_dir)
                self._programs[name] = plain
                continue
            code = write_opencl_c(rewritten.kernel)
            program = self._program(kernel, code.text, settings)
            self._programs[name] = program.build([*options_of_coarsened(given), code.standard], devices, cache_dir)
            self._signatures[name] = _signature(kernel, rewritten)
        return self

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (a kernel of ours or of PyOpenCL's)
        programs: dict[str, RuntimeProgram] = self.__dict__.get("_programs", {})
        if name not in programs:
            raise AttributeError(f"'{name}' is no kernel of the program; kernels come with build()")
        kernel = getattr(programs[name], name)
        signature = self._signatures.get(name)
        return kernel if signature is None else LaidOutKernel(kernel, signature)

    def _program(self, kernel: Kernel, text: str, settings: _Build) -> RuntimeProgram:
        """The program of a kernel that was rewritten, not yet built."""
        version = self._version(kernel, settings)
        if version is None:
            return Program(self._context, text, **self._options)
        advisor = VersionAdvisor(replace(version.variant, arrays=()))
        own = {name: value for name, value in self._options.items() if name not in _CHOICES}
        return RuntimeProgram(self._context, text, advisor=advisor, **own)

    def _version(self, kernel: Kernel, settings: _Build) -> LaidOutVersion | None:
        """The version of a tuned file for arrays that lie so; None where there is none, which is said."""
        files = [file for file in self._files if file.kernel == kernel.name]
        problem = ""
        for file in files:
            problem = self._problem(file, kernel, settings)
            found = next((each for each in file.layouts if each.is_for(self._plans(kernel))), None)
            if not problem and found is not None:
                return found
        if files:
            reason = problem or "it has no version for arrays that lie so"
            _log.warning("kernel %s: its tuned file isn't used: %s", kernel.name, reason)
        return None

    def _problem(self, file: TunedFile, kernel: Kernel, settings: _Build) -> str:
        """Say why a file can't be used for a kernel; empty where it can."""
        found = problem_of_program(file, self._source, settings.options, len(kernel.arguments))
        of_devices = [problem_of_device(file, device) for device in settings.devices]
        if found is None and all(of_devices):
            found = of_devices[0]
        return "" if found is None else found.reason

    def _plans(self, kernel: Kernel | None) -> list[ArrayPlan]:
        """Return how the arrays of a kernel's arguments lie that lie otherwise."""
        names = [] if kernel is None else [each.name for each in kernel.arguments if each.name in self._arrays]
        return [self._arrays[name].plan(name) for name in names]

    def _check_names(self, kernels: Iterable[Kernel]) -> None:
        names, known = set[str](), set[str]()
        for kernel in kernels:
            names.add(kernel.name)
            known |= {argument.name for argument in kernel.arguments}
        for name in self._arrays:
            if name not in known:
                raise InvalidInputError(f"no kernel has an argument {name}{did_you_mean(name, known)}")
        for file in self._files:
            if file.kernel not in names:
                hint = did_you_mean(file.kernel, names)
                raise InvalidInputError(
                    f"the tuned file is of the kernel '{file.kernel}', which the program doesn't have{hint}"
                )

    def _rewritten(self, kernel: Kernel) -> Rewritten | None:
        """The kernel with its arrays laid out; None where it has none of them."""
        plans = self._plans(kernel)
        return laid_out(kernel, plans) if plans else None


@dataclass(frozen=True, slots=True)
class _Build:
    """The options that a program is built with, and its devices."""

    options: BuildOptions
    devices: tuple[pyopencl.Device, ...]


def _signature(kernel: Kernel, rewritten: Rewritten) -> LaidOutSignature:
    names = tuple(argument.name for argument in kernel.arguments)
    arrays = {names.index(each.argument): replace(each.arrangement, shape=None) for each in rewritten.arrays}
    return LaidOutSignature(kernel.name, names, arrays, rewritten.kernel.added_arguments)
