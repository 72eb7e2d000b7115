"""Checks of a tuned file for a program: what would be wrong is refused, what doesn't hold runs as it is written.

A file may come from anybody. It may define what the source declares by pragmas, and nothing else; its default
version is what the source builds by itself; sizes and choices are computed from the kernel's own arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyopencl

from coarsen.base.version import __version__
from coarsen.dispatch.expressions import Condition, parse_condition
from coarsen.dispatch.features import SIZE_NAMES, ArgumentKind, KernelArgument
from coarsen.dispatch.launch_sizes import size_inputs
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.frontend.annotations import Declaration, read_annotations
from coarsen.frontend.parameters import Parameter
from coarsen.frontend.source_text import hash_with_headers
from coarsen.runtime.code import BuildOptions, device_options, options_by_macro, options_without
from coarsen.runtime.launch import LaunchLimits, fits
from coarsen.runtime.toolchain import Form
from coarsen.variant.coarsening import Level
from coarsen.variant.variant import Definitions, Variant


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


def check_definitions(file: TunedFile, source: str, name: str = "the source") -> None:
    """Check that versions define what the source declares, and that the default one is what the source builds.

    Args:
        file: of this source.
        source: OpenCL C, as its author wrote it.
        name: of the source in messages.

    Raises:
        InvalidInputError: a macro or a value that no pragma declares, values that a `where` rules out, or a
            default version with other values than the source has.
    """
    if not any(version.variant.definitions for version in file.versions):
        return
    annotations = read_annotations(source, name)
    declared = {each.name: each for each in annotations.parameters}
    conditions = [_condition(each, annotations.parameters) for each in annotations.conditions]
    for number, version in enumerate(file.versions):
        values = {parameter: each.default for parameter, each in declared.items()} | dict(
            version.variant.definitions
        )
        for macro, value in values.items():
            problem = _problem_of_macro(macro, value, declared.get(macro))
            if problem:
                raise InvalidInputError(f"kernel {file.kernel}: version {number} of its tuned file {problem}")
            if number == file.default and value != declared[macro].default:
                raise InvalidInputError(
                    f"kernel {file.kernel}: the default version of its tuned file has {macro}={value}, and the "
                    f"source builds {macro}={declared[macro].default}: tune it again"
                )
        whole = {macro: int(value) for macro, value in values.items() if value.lstrip("-").isdecimal()}
        for condition in conditions:
            if condition.names <= whole.keys() and not condition.holds(whole):
                raise InvalidInputError(
                    f"kernel {file.kernel}: version {number} of its tuned file has values that the source rules "
                    f"out: where {condition.text}"
                )


def _problem_of_macro(macro: str, value: str, parameter: Parameter | None) -> str:
    if parameter is None:
        return f"defines {macro}, which no pragma of the source declares as a parameter"
    if value not in parameter.values:
        return f"defines {macro} as {value}, which is none of the values that the source declares"
    return ""


def _condition(declared: Declaration, parameters: Sequence[Parameter]) -> Condition:
    text = declared.text
    for select in parameters:
        text = select.numbered(text) if select.labels else text
    return parse_condition(text)


def check_arguments(file: TunedFile, own: Sequence[KernelArgument]) -> None:
    """Compare the arguments of a tuned file with those of the kernel: by number, names and kinds.

    Args:
        file: of the kernel's source. An argument of the kind `other`, of which nothing is computed, may be any.
        own: the kernel's arguments.

    Raises:
        InvalidInputError: the first that differs.
    """
    if len(file.arguments) != len(own):
        raise InvalidInputError(
            f"kernel {file.kernel}: it takes {len(own)} arguments, and its tuned file has {len(file.arguments)}"
        )
    for index, (told, argument) in enumerate(zip(file.arguments, own, strict=True)):
        if told.name != argument.name:
            raise InvalidInputError(
                f"kernel {file.kernel}: its argument {index} is {argument.name}, and {told.name} in its tuned file"
            )
        if told.kind not in (argument.kind, ArgumentKind.OTHER):
            raise InvalidInputError(
                f"kernel {file.kernel}: its argument {argument.name} is of the kind {argument.kind}, and "
                f"{told.kind} in its tuned file"
            )


def uses_arguments(file: TunedFile) -> bool:
    """Return True if anything in a tuned file is computed from arguments, or passes them in another order."""
    names = {name for feature in file.features for name in feature.names} - set(SIZE_NAMES)
    return bool(names or size_inputs(file) or any(version.is_sequence for version in file.versions))


def problem_of_sizes(variant: Variant, limits: Iterable[LaunchLimits]) -> str:
    """Say why no launch with a version's own local size can be carried out; empty where it can, or has none.

    Args:
        variant: the version's configuration.
        limits: of the devices; one that takes it is enough.
    """
    local = list(variant.local_size)
    if not local:
        return ""
    for entry in variant.coarsenings:
        if entry.dimension >= len(local):
            return f"it merges along dimension {entry.dimension}, which its local size {variant.local_size} lacks"
        if entry.level is Level.ITEM and local[entry.dimension] > 1:
            local[entry.dimension], rest = divmod(local[entry.dimension], entry.factor)
            if rest or local[entry.dimension] % entry.stride:
                return f"the {entry} doesn't divide its local size {variant.local_size}"
    if not any(fits(tuple(local), each) for each in limits):
        return f"a work-group of {'x'.join(map(str, local))} work-items is too large for the device"
    return ""


def macros_of(file: TunedFile) -> frozenset[str]:
    """Return the names of the macros that every version of a file defines: no build option has a say in them."""
    return frozenset.intersection(*(frozenset(dict(each.variant.definitions)) for each in file.versions))


def own_options(options: BuildOptions) -> tuple[str, ...]:
    """Return a program's build options one by one, as tuned files have them: without PyOpenCL's own folder."""
    return without_own_folder(device_options(options))


def without_own_folder(every: Sequence[str]) -> tuple[str, ...]:
    """Return build options, given one by one, without PyOpenCL's own folder."""
    folder = device_options(None)[1]
    kept: list[str] = []
    for option in every:
        if option == folder and kept and kept[-1] == "-I":
            kept.pop()
        else:
            kept.append(option)
    return tuple(kept)


def are_left(definitions: Definitions, options: Sequence[str]) -> bool:
    """Return True if no build option gives macros, which have these values in a source, other values.

    Args:
        definitions: the macros.
        options: that the source is built with, one by one.
    """
    told = {macro: "".join(words) for macro, words in options_by_macro(options)}
    return all(name not in told or _value(told[name]) == value.strip() for name, value in definitions)


def _value(option: str) -> str | None:
    """Return the value that an option gives a macro; None where it takes it away."""
    _, equals, value = option.partition("=")
    return None if option.startswith("-U") else value.strip() if equals else "1"


OneFile = str | Path | TunedFile
TunedChoice = OneFile | Sequence[OneFile] | None


def tuned_files(tuned: TunedChoice, factor: object, form: Form) -> tuple[TunedFile, ...]:
    """Return the tuned files of a program, read where they aren't yet.

    Args:
        tuned: one, or several: of several kernels, or of several devices.
        factor: as `coarsen.Program` takes it.
        form: what the device is given of a coarsened kernel.

    Raises:
        InvalidInputError: a file can't be read, or something else is asked for that can't be had beside it.
    """
    if tuned is None:
        return ()
    several = (tuned,) if isinstance(tuned, str | Path | TunedFile) else tuple(tuned)
    files = tuple(file if isinstance(file, TunedFile) else TunedFile.read(Path(file)) for file in several)
    if files and form != "opencl_c":
        raise InvalidInputError("what a tuned file says was measured of OpenCL C: leave out form or tuned")
    if files and factor is not None and not isinstance(factor, Mapping):
        raise InvalidInputError("a factor for all kernels is given, or a tuned file: leave out factor or tuned")
    for file in files:
        if isinstance(factor, Mapping) and file.kernel in factor:
            raise InvalidInputError(
                f"the kernel {file.kernel} has a factor and a tuned file: leave out one of them"
            )
    return files
