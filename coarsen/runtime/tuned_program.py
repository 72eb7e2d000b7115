"""The tuned kernels of one program: their versions, built with it, and a kernel object for each thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyopencl

from coarsen.base.names import did_you_mean
from coarsen.devices.discovery import common_macros_of
from coarsen.dispatch.tuned_file import TunedFile, check_launchable
from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.runtime.code import BuildOptions
from coarsen.runtime.kernel import Kernel
from coarsen.runtime.launches import KernelLaunches
from coarsen.runtime.text_cache.signature import kernel_signature
from coarsen.runtime.tuned_building import BuildSettings, BuiltVersion, build_versions
from coarsen.runtime.tuned_checks import (
    Problem,
    check_arguments,
    check_definitions,
    problem_of_device,
    problem_of_program,
    stand_in_source,
    uses_arguments,
)
from coarsen.runtime.tuned_kernel import TunedKernel
from coarsen.runtime.tuned_launches import BuiltDefault, TunedLaunches


@dataclass(slots=True)
class TunedProgram:
    """The tuned kernels of one program, by name."""

    launches: Mapping[str, TunedLaunches] = field(default_factory=dict)
    _of_thread: threading.local = field(default_factory=threading.local)

    def kernel(self, program: pyopencl.Program, launches: KernelLaunches) -> Kernel:
        """Return a new kernel object of a program."""
        tuned = self.launches.get(launches.name)
        return Kernel(program, launches) if tuned is None else TunedKernel(program, launches, tuned)

    def of_this_thread(self, name: str, make: Callable[[str], Kernel]) -> Kernel:
        """Return this thread's kernel object of a name; a new one where arguments were set for the last."""
        kernels: dict[str, Kernel] = self._of_thread.__dict__
        found = kernels.get(name)
        if found is None or (isinstance(found, TunedKernel) and found.is_set_apart):
            found = kernels[name] = make(name)
        return found


def tuned_program(
    files: Sequence[TunedFile],
    settings: BuildSettings,
    options: BuildOptions,
    launches_of: Callable[[str], KernelLaunches],
    names: Sequence[str],
    say_once: Callable[[object, str], None],
) -> TunedProgram:
    """Build all versions of tuned files.

    Args:
        files: of the program's kernels; of several for one kernel, the one for the device is taken.
        settings: what the program was built with.
        options: its build options, as they were given.
        launches_of: returns the launches of a kernel as it is written.
        names: of the program's kernels.
        say_once: logs a warning the first time.

    Raises:
        InvalidInputError: a file is of a kernel that the program doesn't have, its versions can't stand for each
            other, or it isn't a file of this source: by the macros that it defines, or by its arguments.
    """
    devices = settings.devices or settings.context.devices
    made: dict[str, TunedLaunches] = {}
    for name in dict.fromkeys(file.kernel for file in files):
        if name not in names:
            hint = did_you_mean(name, names)
            raise InvalidInputError(
                f"the tuned file is of the kernel '{name}', which the program doesn't have{hint}"
            )
        file = _for_devices([file for file in files if file.kernel == name], devices)
        check_launchable(file.versions)
        made[name] = _launches(file, settings, options, launches_of(name).argument_count, devices, say_once)
    return TunedProgram(made)


def _for_devices(files: Sequence[TunedFile], devices: Sequence[pyopencl.Device]) -> TunedFile:
    """Return the first file for one of the devices; the first of all where there is none."""
    return next((f for f in files if any(problem_of_device(f, device) is None for device in devices)), files[0])


def _launches(
    file: TunedFile,
    settings: BuildSettings,
    options: BuildOptions,
    arguments: int,
    devices: Sequence[pyopencl.Device],
    say_once: Callable[[object, str], None],
) -> TunedLaunches:
    problem = problem_of_program(file, settings.source, options, arguments)
    if problem is None:
        problem = _problem_of_content(file, settings, devices)
    by_device = {device.int_ptr: problem_of_device(file, device) for device in devices}
    problems: dict[int, Problem] = {address: found for address, found in by_device.items() if found is not None}
    if problem is None and len(problems) == len(by_device):
        problem = next(iter(problems.values()))
    is_own = stand_in_source(file.default_version.variant.definitions, settings.source, settings.options)
    if problem is None:
        wanted = range(len(file.versions))
    else:
        # The default version alone, where it isn't the program's own kernel.
        wanted = range(file.default, file.default + int(not is_own and not problem.is_other_code))
        say_once(
            ("tuned", file.kernel),
            f"kernel {file.kernel}: runs as it is written, not as its tuned file chooses: {problem.reason}",
        )
    versions, not_built = build_versions(file, settings, wanted)
    for number, reason in not_built.items():
        say_once(("version", file.kernel, number), f"kernel {file.kernel}: version {number} isn't used: {reason}")
    built = versions[file.default]
    default = BuiltDefault(file, built if isinstance(built, BuiltVersion) else None, is_own, problem, say_once)
    return TunedLaunches(file, versions, not_built, default, problem, problems, say_once)


def _problem_of_content(
    file: TunedFile, settings: BuildSettings, devices: Sequence[pyopencl.Device]
) -> Problem | None:
    """Check what a file for the program's own source defines and computes from.

    Returns:
        Why it can't be checked; None where all is well.

    Raises:
        InvalidInputError: something of it isn't the source's.
    """
    check_definitions(file, settings.source)
    if not uses_arguments(file):
        return None
    try:
        own = kernel_signature(
            settings.source, file.kernel, settings.options, common_macros_of(devices), settings.cache_dir
        )
    except CoarsenError as error:
        return Problem(f"its arguments can't be compared with the kernel's: {' '.join(str(error).split())[:300]}")
    check_arguments(file, own)
    return None
