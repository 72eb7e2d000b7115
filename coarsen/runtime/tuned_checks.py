"""The reasons for which a program can't use a tuned file, so that its kernel runs as it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyopencl

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.distribution import __version__
from coarsen.frontend.source_hash import hash_with_headers
from coarsen.runtime.build_options import BuildOptions, device_options
from coarsen.runtime.tuned_macros import options_without


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason not to use a file.

    `is_other_code` says that the file is of another source or other build options, so that not even the sizes of
    its default version are those of the program's kernel.
    """

    reason: str
    is_other_code: bool = False


def problem_of_program(file: TunedFile, source: str, options: BuildOptions, arguments: int) -> Problem | None:
    """Return why a file is of no use for a program; None if it is.

    Args:
        file: that of a kernel.
        source: the program's.
        options: those that it is built with; macros that every version defines don't count.
        arguments: the number of arguments that the kernel takes.
    """
    if file.source_hash != hash_with_headers(source, device_options(options)):
        return Problem("the program's source, or a file that it includes, isn't the one that was tuned", True)
    own = options_without(own_options(options), macros_of(file))
    if file.build_options != own:
        tuned, here = (" ".join(each) or "none" for each in (file.build_options, own))
        return Problem(f"the build options aren't those that were tuned with: {tuned}, and here {here}", True)
    if len(file.arguments) != arguments:
        return Problem(f"the kernel takes {arguments} arguments, the file has {len(file.arguments)}", True)
    if file.coarsen_version != __version__:
        return Problem(f"it was written by coarsen {file.coarsen_version}, and this is {__version__}")
    return None


def problem_of_device(file: TunedFile, device: pyopencl.Device) -> Problem | None:
    """Return why a file is of no use on a device; None if it is."""
    name, driver = device.name.strip(), device.driver_version.strip()
    if file.device.strip() != name:
        return Problem(f"it was tuned on '{file.device}', and the device is '{name}'")
    if file.driver.strip() != driver:
        return Problem(f"it was tuned with the driver {file.driver}, and this is {driver}")
    return None


def macros_of(file: TunedFile) -> frozenset[str]:
    """Return the names of the macros that every version of a file defines: no build option has a say in them."""
    return frozenset.intersection(*(frozenset(dict(each.variant.definitions)) for each in file.versions))


def own_options(options: BuildOptions) -> tuple[str, ...]:
    """Return a program's build options one by one, as tuned files have them: without PyOpenCL's own folder."""
    return without_own_folder(device_options(options))


def without_own_folder(every: Sequence[str]) -> tuple[str, ...]:
    """Return build options, given one by one, without PyOpenCL's own folder."""
    folder = _folder_of_pyopencl()
    kept: list[str] = []
    for option in every:
        if option == folder and kept and kept[-1] == "-I":
            kept.pop()
        else:
            kept.append(option)
    return tuple(kept)


def _folder_of_pyopencl() -> str:
    return device_options(None)[1]
