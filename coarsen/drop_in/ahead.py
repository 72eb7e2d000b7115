"""Tuning of a kernel ahead of its launches.

found = coarsen.tune(program.sgemm, queue, (1024, 1024), (16, 16), *arguments)
print(found)           # sgemm on …: 2.31 (2.28 to 2.34) times as fast with …
"""

from __future__ import annotations

import logging
from typing import Any, cast

import pyopencl

from coarsen.devices.discovery import describe_device, device_types_of
from coarsen.drop_in.live_line import tuning_is_shown
from coarsen.drop_in.measured_launch import choice_of, no_result, remember, tune_request
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.policy.keys import kernel_facts, key_of
from coarsen.runtime.advice import LaunchRequest
from coarsen.runtime.arguments import Argument
from coarsen.runtime.code import device_options
from coarsen.runtime.launch import OriginalLaunch, Sizes, plain_sizes, required_local_size
from coarsen.runtime.waiting import are_over
from coarsen.tuning.captured_tuning import alone_on
from coarsen.tuning.progress import TimeOverError
from coarsen.tuning.remembered.choice import RememberedChoice, SizeClass
from coarsen.tuning.settings import Tune
from coarsen.tuning.tuned import Tuned
from coarsen.variant.transforms import Transforms, device_kind_of

_log = logging.getLogger("coarsen")


def tune(
    kernel_or_program: pyopencl.Kernel | pyopencl.Program,
    queue: pyopencl.CommandQueue,
    global_size: Sizes,
    local_size: Sizes | None,
    *arguments: Argument,
    settings: Tune | None = None,
) -> Tuned:
    """Find the fastest variant of a launch and remember it, for programs that are made from now on.

    The launch is not made: its buffers are only read, when the queue has come to its end, and variants run on
    copies in other processes.

    Args:
        kernel_or_program: a kernel of a `coarsen.Program` or of a PyOpenCL program from source; or such a program
            with one kernel.
        queue: where it would be launched.
        global_size: in work-items.
        local_size: in work-items; None leaves it to the driver.
        arguments: as for a launch.
        settings: how to tune; `coarsen.Tune()` if None.

    Returns:
        What was found, also if nothing is faster. Where the machine is too busy to tell, its `doubt` says so, and
        nothing is remembered.

    Raises:
        InvalidInputError: the launch can't be tuned: it can't be captured, or the program is from no source.
        DeviceError: the queue does not come to its end; the device can't be opened a second time; the time was
            over before anything was found out, which is remembered.
        VerificationError: the launch does not give the same results twice.
        RefusalError: the kernel can't be coarsened.
    """
    chosen = settings or Tune()
    request = _request_of(_kernel_of(kernel_or_program), queue, global_size, local_size, arguments)
    if not are_over(queue, ()):
        raise DeviceError("the queue does not come to its end, so nothing can be tuned on what its buffers hold")
    device, sizes = describe_device(queue.device), request.launch[1:3]
    facts = kernel_facts(request.source, request.kernel, request.options, device.macros)
    size_class = SizeClass.of(*sizes)
    key = key_of(facts.ir_hash, request.kernel, device, request.options, request.transforms, size_class)
    try:
        with alone_on(device, chosen.seconds), tuning_is_shown(request.kernel, chosen) as shown:
            tuned = tune_request(request, device, facts.groups_matter, shown)
    except TimeOverError:
        _remember(no_result(key, device, *sizes, chosen.seconds), chosen)
        raise
    if tuned.doubt:
        _log.warning("what was found is not remembered: %s", tuned.doubt)
    else:
        _remember(choice_of(tuned, key, device), chosen)
    return tuned


def _remember(choice: RememberedChoice, settings: Tune) -> None:
    kept = remember(choice, settings.store)
    if kept.reason:
        _log.warning("what was found can't be remembered: %s", kept.reason)


def _request_of(
    kernel: pyopencl.Kernel,
    queue: pyopencl.CommandQueue,
    global_size: Sizes,
    local_size: Sizes | None,
    arguments: tuple[Argument, ...],
) -> LaunchRequest:
    """Return the launch as a program of ours asks for it."""
    source, options = _text_of(kernel, queue.device)
    whole, local = plain_sizes(tuple(global_size), None if local_size is None else tuple(local_size), False)
    if local is None:
        # As a launch has it that leaves this open.
        local = required_local_size(kernel, queue.device, len(whole))
    launch = OriginalLaunch(queue.device, whole, local)
    transforms = Transforms(device_kind=device_kind_of(device_types_of(queue.device)))
    return LaunchRequest(source, options, kernel.function_name, launch, transforms, queue, arguments)


def _kernel_of(kernel_or_program: pyopencl.Kernel | pyopencl.Program) -> pyopencl.Kernel:
    if isinstance(kernel_or_program, pyopencl.Program):
        kernels = kernel_or_program.all_kernels()
        if len(kernels) != 1:
            names = ", ".join(kernel.function_name for kernel in kernels)
            raise InvalidInputError(f"say which kernel of the program to tune: {names}")
        # Those of PyOpenCL's own programs don't know their source.
        return pyopencl.Kernel(kernel_or_program, kernels[0].function_name)
    return kernel_or_program


def _text_of(kernel: pyopencl.Kernel, device: pyopencl.Device) -> tuple[str, tuple[str, ...]]:
    """The source of a kernel's program, and its build options. Raises InvalidInputError where there is none."""
    try:
        program: Any = kernel.program
        # A program from PyOpenCL's cache of binaries has no source, but its kernels keep what it was made from.
        kept = getattr(program, "_text", None) or getattr(kernel, "_source", None)
    except TypeError:  # PyOpenCL's own, for those that `all_kernels` and `clone` make
        raise _unknown_source(kernel) from None
    source = kept if kept is not None else program.get_info(pyopencl.program_info.SOURCE)
    if isinstance(source, bytes):
        source = source.decode(errors="replace")
    if not isinstance(source, str) or not source.strip():
        raise _unknown_source(kernel)
    options = cast("str", program.get_build_info(device, pyopencl.program_build_info.OPTIONS))
    return source, device_options(options)


def _unknown_source(kernel: pyopencl.Kernel) -> InvalidInputError:
    return InvalidInputError(
        f"the source of the kernel '{kernel.function_name}' is not known: make its program from OpenCL C, and the "
        "kernel by pyopencl.Kernel(program, name)"
    )
