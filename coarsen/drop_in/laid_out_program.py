"""A program whose kernels work on arrays that lie otherwise, coarsened as `coarsen.Program` does it.

    program = coarsen.LaidOutProgram(context, source, {"bodies": coarsen.Layout.soa(body)}, factor=4).build()
    bodies = coarsen.LaidOutArray(queue, coarsen.Layout.soa(body), host)       # packed, once
    program.grow(queue, (1000,), (50,), bodies)
    host = bodies.get(queue)                                                   # unpacked, when asked for

    source ─▶ each kernel with such an argument rewritten, as OpenCL C ─▶ coarsen.Program of it
           └▶ the other kernels ───────────────────────────────────────▶ coarsen.Program of the source

Nothing is converted but by a `LaidOutArray`. A launch checks that each array lies as its kernel wants it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import pyopencl

from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.devices.discovery import common_macros_of
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
from coarsen.runtime.text_cache.location import CacheFolder


class LaidOutProgram:
    """A program from OpenCL C in which some arguments' arrays lie otherwise than in the source.

    Args:
        context: to build for.
        source: OpenCL C.
        arrays: how they lie, by the names of the arguments: in each kernel that has an argument of the name.
        options: as `coarsen.Program` takes them by name: `factor`, `dim`, `tune` and so on. Those that name
            kernels name those of the source.
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
        self._options = options
        self._programs: dict[str, Program] = {}
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
        plain: Program | None = None
        for name, kernel in lowered.items():
            rewritten = self._rewritten(kernel)
            if rewritten is None:
                if plain is None:
                    plain = Program(self._context, self._source, **self._options)
                    plain.build(options, devices, cache_dir)
                self._programs[name] = plain
                continue
            code = write_opencl_c(rewritten.kernel)
            program = Program(self._context, code.text, **self._options)
            self._programs[name] = program.build([*options_of_coarsened(given), code.standard], devices, cache_dir)
            self._signatures[name] = _signature(kernel, rewritten)
        return self

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (a kernel of ours or of PyOpenCL's)
        programs: dict[str, Program] = self.__dict__.get("_programs", {})
        if name not in programs:
            raise AttributeError(f"'{name}' is no kernel of the program; kernels come with build()")
        kernel = getattr(programs[name], name)
        signature = self._signatures.get(name)
        return kernel if signature is None else LaidOutKernel(kernel, signature)

    def _check_names(self, kernels: Any) -> None:  # noqa: ANN401 (an iterable that is read once)
        known = {argument.name for kernel in kernels for argument in kernel.arguments}
        for name in self._arrays:
            if name not in known:
                raise InvalidInputError(f"no kernel has an argument {name}{did_you_mean(name, known)}")

    def _rewritten(self, kernel: Kernel) -> Rewritten | None:
        """The kernel with its arrays laid out; None where it has none of them."""
        names = [argument.name for argument in kernel.arguments if argument.name in self._arrays]
        return laid_out(kernel, [self._arrays[name].plan(name) for name in names]) if names else None


def _signature(kernel: Kernel, rewritten: Rewritten) -> LaidOutSignature:
    names = tuple(argument.name for argument in kernel.arguments)
    arrays = {names.index(each.argument): replace(each.arrangement, shape=None) for each in rewritten.arrays}
    return LaidOutSignature(kernel.name, names, arrays, rewritten.kernel.added_arguments)
