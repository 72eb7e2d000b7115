"""Kernels whose arrays lie otherwise than in the source: rewritten, and coarsened as programs of their own.

    program = coarsen.Program(context, source, arrays={"bodies": coarsen.Layout.soa(body)}, factor=4).build()
    bodies = coarsen.LaidOutArray(queue, coarsen.Layout.soa(body), host)       # packed, once
    program.grow(queue, (1000,), (50,), bodies)
    host = bodies.get(queue)                                                   # unpacked, when asked for

    source ─▶ each kernel with such an argument rewritten, as OpenCL C ─▶ a program of it
           └▶ the other kernels ───────────────────────────────────────▶ the program of the source

Nothing is converted but by a `LaidOutArray`. A launch checks that each array lies as its kernel wants it. Of a
tuned file a rewritten kernel runs the version for arrays that lie so.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pyopencl

from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.base.names import did_you_mean
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.frontend.lower import list_kernels, lower
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import laid_out
from coarsen.policy.tuned import OneVersion
from coarsen.policy.tuned_checks import problem_of_device, problem_of_program
from coarsen.runtime.code import BuildOptions
from coarsen.runtime.laid_out_kernel import RewrittenKernel
from coarsen.runtime.layout import Layout
from coarsen.variant.data_plan import ArrayPlan

_log = logging.getLogger("coarsen")


def rewritten_kernels(
    source: str, layouts: Mapping[str, Layout], options: Sequence[str], macros: DeviceMacros
) -> dict[str, RewrittenKernel]:
    """Rewrite the kernels of a source that have arguments of these names, and return them by name.

    Args:
        source: OpenCL C.
        layouts: how arrays lie, by the names of the arguments.
        options: the build options, one by one.
        macros: what the source may find out about its device.

    Raises:
        InvalidInputError: no kernel has an argument of a name; its elements are others than the host's.
        RefusalError: a kernel can't be laid out so.
    """
    kernels = [lower(source, name, options, macros) for name in list_kernels(source, options, macros)]
    known = {name for kernel in kernels for name in kernel.argument_names}
    for name in layouts:
        if name not in known:
            raise InvalidInputError(f"no kernel has an argument {name}{did_you_mean(name, known)}")
    plans = {
        kernel.name: tuple(layouts[name].plan(name) for name in kernel.argument_names if name in layouts)
        for kernel in kernels
    }
    return {kernel.name: _rewritten(kernel, plans[kernel.name]) for kernel in kernels if plans[kernel.name]}


def version_of(
    files: Iterable[TunedFile],
    kernel: RewrittenKernel,
    source: str,
    options: BuildOptions,
    devices: Sequence[pyopencl.Device],
) -> OneVersion | None:
    """Return the policy of a tuned file's version for arrays that lie so; None where there is none, which is said.

    Args:
        files: of any kernels.
        kernel: the rewritten one.
        source: that it is of.
        options: the build options, as they were given.
        devices: that it is built for.
    """
    problem = ""
    own = [file for file in files if file.kernel == kernel.name]
    for file in own:
        problem = _problem(file, source, options, len(kernel.arguments), devices)
        found = next((each for each in file.layouts if each.is_for(kernel.plans)), None)
        if not problem and found is not None:
            return OneVersion(replace(found.variant, arrays=()))
    if own:
        reason = problem or "it has no version for arrays that lie so"
        _log.warning("kernel %s: its tuned file isn't used: %s", kernel.name, reason)
    return None


def _problem(
    file: TunedFile, source: str, options: BuildOptions, arguments: int, devices: Sequence[pyopencl.Device]
) -> str:
    """Say why a file can't be used for a kernel; empty where it can."""
    found = problem_of_program(file, source, options, arguments)
    of_devices = [problem_of_device(file, device) for device in devices]
    if found is None and all(of_devices):
        found = of_devices[0]
    return "" if found is None else found.reason


def _rewritten(kernel: Kernel, plans: tuple[ArrayPlan, ...]) -> RewrittenKernel:
    rewritten = laid_out(kernel, plans)
    names = kernel.argument_names
    arrays = {names.index(each.argument): replace(each.arrangement, shape=None) for each in rewritten.arrays}
    code = write_opencl_c(rewritten.kernel)
    added = rewritten.kernel.added_arguments
    return RewrittenKernel(kernel.name, code.text, code.standard, plans, names, arrays, added)
