"""The policy of a program's tuned files: for each launch of a kernel, the version that its file chooses.

    the file is of another source, device, driver, …       ─▶ the default version
    sizes that aren't the default version's, or an offset  ─▶ as it is written, with these sizes
    features ─▶ tree ─▶ version ─▶ its sizes               ─▶ carried out as any coarsened kernel
    version not built, too large a work-group, no value    ─▶ the default version

All versions are built with the program, and no buffer is read. The default version is the kernel as it is written:

    the source as it stands has its macros                     ─▶ the program's own kernel
    other macros, and its sizes or no sizes of the file        ─▶ the kernel as it is written, with these macros
    other macros, and sizes of which nobody can say for which  ─▶ refused: either could be wrong
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyopencl

from coarsen.base.names import did_you_mean
from coarsen.devices.discovery import common_macros_of
from coarsen.dispatch.features import BYTES, ArgumentKind
from coarsen.dispatch.launch_sizes import (
    NO_ONE_LAUNCH,
    SequenceSizes,
    VersionSizes,
    passed_arguments,
    sequence_function,
    size_inputs,
)
from coarsen.dispatch.tree import versions_of
from coarsen.dispatch.tuned_file import TunedFile, check_launchable
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.policy.tuned_checks import (
    Problem,
    are_left,
    check_arguments,
    check_definitions,
    problem_of_device,
    problem_of_program,
    problem_of_sizes,
    uses_arguments,
)
from coarsen.policy.tuned_tree import TreeChoice, TunedExplanation
from coarsen.runtime.advice import Decision, KernelFile, LaunchRefusedError, LaunchRequest, Numbers, Policy
from coarsen.runtime.arguments import Argument, tuple_function
from coarsen.runtime.code import BuildOptions, definition_options, device_options
from coarsen.runtime.launch import (
    MOST_WORK_ITEMS,
    LaunchLimits,
    OriginalLaunch,
    OwnLaunch,
    PassedSizes,
    SequenceVersion,
)
from coarsen.runtime.launches import KernelLaunches
from coarsen.runtime.plan import CoarseningPlan
from coarsen.runtime.text_cache.signature import kernel_signature
from coarsen.runtime.text_cache.store import CacheFolder
from coarsen.variant.variant import Definitions, Variant

_CHOSEN = "as the tuned file chooses"
_REAL = (np.floating, float)
_WHOLE = (np.integer, int, np.bool_)


@dataclass(frozen=True, slots=True)
class OneVersion(Policy):
    """The policy that always decides for one variant."""

    variant: Variant

    def choose(self, request: LaunchRequest) -> Decision:
        """Return the variant."""
        return Decision(self.variant, _CHOSEN)


class TunedFiles(Policy):
    """Decides for the kernels of a program that have a tuned file.

    Args:
        files: of the program's kernels; of several for one kernel, the one for the device is taken.
        names: of the program's kernels.
        source: of the program.
        options: its build options, as they were given.
        devices: that it is built for.
        cache_dir: as `pyopencl.Program.build` takes it.
        picker: picks versions in the place of the files' trees; None where these choose.

    Raises:
        InvalidInputError: a file is of a kernel that the program doesn't have, its versions can't stand for each
            other, or it isn't a file of this source: by the macros that it defines, or by its arguments.
    """

    def __init__(
        self,
        files: Sequence[TunedFile],
        names: Sequence[str],
        source: str,
        options: BuildOptions,
        devices: Sequence[pyopencl.Device],
        cache_dir: CacheFolder,
        picker: Picker | None = None,
    ) -> None:
        self._program = source, options, devices, cache_dir
        self._files: dict[str, _Chooser] = {}
        for name in dict.fromkeys(file.kernel for file in files):
            if name not in names:
                hint = did_you_mean(name, names)
                raise InvalidInputError(
                    f"the tuned file is of the kernel '{name}', which the program doesn't have{hint}"
                )
            of_kernel = [file for file in files if file.kernel == name]
            fitting = (f for f in of_kernel if any(problem_of_device(f, device) is None for device in devices))
            file = next(fitting, of_kernel[0])
            check_launchable(file.versions)
            self._files[name] = _Chooser(file, picker)

    def build(self, plan: CoarseningPlan, arguments_of: Callable[[str], int]) -> None:
        """Build all versions; those that can't be used are logged.

        Args:
            plan: of the program.
            arguments_of: returns how many arguments a kernel takes.
        """
        for name, chooser in self._files.items():
            chooser.build(plan, arguments_of(name), *self._program)
            if not chooser.is_picked:
                plan.seal(name)

    def file_of(self, kernel: str) -> KernelFile | None:
        """Return the file of a kernel."""
        return self._files.get(kernel)

    def choose(self, request: LaunchRequest) -> Decision | None:
        """Return the version that is chosen; None for a kernel without a file.

        Raises:
            LaunchRefusedError: the launch could be meant for two kernels.
        """
        chooser = self._files.get(request.kernel)
        return None if chooser is None else chooser.choose(request.launch, request)


class Picker(Policy):
    """Picks versions of a tuned file, launch by launch; of kernels without one it decides nothing."""

    def pick(self, request: LaunchRequest) -> tuple[int, str] | None:
        """Return the number of a version for a launch, and why it is that; None where the file's tree chooses."""
        raise NotImplementedError

    def choose(self, request: LaunchRequest) -> Decision | None:
        """Return nothing."""
        return None


@dataclass(frozen=True, slots=True)
class _Version:
    """A version that is built: what computes its sizes, and its launches where it takes several."""

    variant: Variant
    sizes: Callable[..., SequenceSizes | None]
    steps: SequenceVersion | None = None


class _Chooser(KernelFile):
    """Chooses for one kernel among the versions of its file."""

    def __init__(self, file: TunedFile, picker: Picker | None) -> None:
        self._file, self._picker = file, picker
        self.is_picked = picker is not None
        self.looks_at_arguments = picker is not None and picker.looks_at_arguments
        self._versions: dict[int, _Version] = {}
        # Why versions can't be used, by their numbers.
        self._not_built: dict[int, str] = {}
        self._inputs = size_inputs(file)
        # Asked at each `Kernel.launch`.
        self._default_sizes = lru_cache(maxsize=4096)(_called_sizes(file, self._inputs))
        self._is_own = True
        self._problem: Problem | None = None
        self._problems: dict[int, Problem] = {}
        self._say_once: Callable[[Any, str], None] = lambda occasion, message: None
        self._tree = TreeChoice(file)
        self._local_places = [i for i, each in enumerate(file.arguments) if each.kind is ArgumentKind.LOCAL]
        self._take = _numbers_function(file, (*self._tree.names, *self._local_places))

    def build(
        self,
        plan: CoarseningPlan,
        arguments: int,
        source: str,
        options: BuildOptions,
        devices: Sequence[pyopencl.Device],
        cache_dir: CacheFolder,
    ) -> None:
        """Check the file against the program, and build its versions."""
        file, self._say_once = self._file, plan.say_once
        by_device = {device.int_ptr: problem_of_device(file, device) for device in devices}
        self._problems = {address: problem for address, problem in by_device.items() if problem is not None}
        self._problem = problem_of_program(file, source, options, arguments)
        if self._problem is None:
            self._problem = _problem_of_content(file, source, device_options(options), devices, cache_dir)
        if self._problem is None and len(self._problems) == len(by_device):
            self._problem = next(iter(self._problems.values()))
        self._is_own = are_left(file.default_version.variant.definitions, device_options(options))
        wanted: Iterable[int] = range(len(file.versions))
        if self.is_picked:
            wanted = sorted({file.default, *versions_of(file.tree)})
        if self._problem is not None:
            # The default version alone, where it isn't the program's own kernel.
            is_sequence = file.default_version.is_sequence
            is_needed = (is_sequence or not self._is_own) and not self._problem.is_other_code
            wanted = [file.default] if is_needed else []
            how = "runs as it is written"
            if is_sequence:
                how = "its default launches run" if is_needed else "can't be launched"
            message = f"{how}, not as its tuned file chooses: {self._problem.reason}"
            self._say_once(("tuned", file.kernel), f"kernel {file.kernel}: {message}")
        limits = [LaunchLimits(each.max_work_group_size, tuple(each.max_work_item_sizes)) for each in devices]
        self._make = partial(self._built, plan=plan, limits=limits)
        for number in wanted:
            self._build(number)

    def _build(self, number: int) -> None:
        """Build a version; says why one can't be used."""
        file = self._file
        try:
            self._versions[number] = self._make(file.versions[number])
        except (CoarsenError, pyopencl.Error) as error:
            reason = self._not_built[number] = " ".join(str(error).split())[:500]
            message = f"kernel {file.kernel}: version {number} isn't used: {reason}"
            self._say_once(("version", file.kernel, number), message)

    def _built(self, version: TunedVersion, plan: CoarseningPlan, limits: Sequence[LaunchLimits]) -> _Version:
        """Build a version; raises CoarsenError or pyopencl.Error for one that no launch may run."""
        variant, kernel = version.variant, self._file.kernel
        if problem := problem_of_sizes(variant, limits):
            raise InvalidInputError(problem)
        if version.is_sequence or any(launch.kernel != kernel for launch in version.launches):
            return self._sequence(version, plan)
        as_written = plan.variant(kernel, plan.variant_of((), definitions=variant.definitions))
        if as_written is not None and as_written.num_args != len(self._file.arguments):
            raise InvalidInputError(f"its kernel takes {as_written.num_args} arguments")
        if variant.local_size and not version.launches:
            # Whether the local size may be another than the caller's.
            plan.groups_matter(kernel, variant)
        if variant.is_rewritten and not _builds_variants(plan, kernel, variant):
            raise InvalidInputError(f"the device or coarsen doesn't make it: {replace(variant, definitions=())}")
        return _Version(variant, sequence_function(self._file, version, self._inputs))

    def _sequence(self, version: TunedVersion, plan: CoarseningPlan) -> _Version:
        """Return a version of several launches, those that are coarsened built."""
        coarsened: list[tuple[KernelLaunches, Variant] | None] = []
        for launch in version.launches:
            variant = version.variant_of(launch, self._file.kernel)
            if launch.coarsened and not _builds_variants(plan, launch.kernel, variant):
                raise InvalidInputError(f"the device or coarsen doesn't make {launch.kernel}: {variant}")
            coarsened.append((KernelLaunches(launch.kernel, plan), variant) if launch.coarsened else None)
        if version.variant.is_rewritten and not any(coarsened):
            raise InvalidInputError("it is coarsened, and launches another kernel than the file's")
        as_written = plan.variant_of((), definitions=version.variant.definitions)
        kernels = [plan.variant(launch.kernel, as_written) for launch in version.launches]
        passed = tuple(passed_arguments(version, launch, self._file.arguments) for launch in version.launches)
        for kernel, arguments in zip(kernels, passed, strict=True):
            if kernel is None or kernel.num_args != len(arguments):
                told = "" if kernel is None else f"{kernel.function_name} takes {kernel.num_args} arguments, and "
                raise InvalidInputError(f"its kernel {told}is passed {len(arguments)}")
        steps = SequenceVersion(tuple(filter(None, kernels)), passed, tuple(coarsened))
        return _Version(version.variant, sequence_function(self._file, version, self._inputs), steps)

    def numbers(self, arguments: tuple[Argument, ...]) -> Numbers:
        """Return the numbers that the file computes from, then the bytes of arguments that are local memory."""
        is_other = self._problem is not None and self._problem.is_other_code
        return () if is_other or len(arguments) != len(self._file.arguments) else self._take(arguments)

    def explain(self, values: Mapping[str, float]) -> TunedExplanation:
        """Return what is chosen for numbers by name, and why."""
        return self._tree.explain(values)

    def sizes(self, numbers: Numbers) -> PassedSizes:
        """Return the default version's sizes for these numbers."""
        if not self._file.has_sizes:
            raise InvalidInputError(
                f"the tuned file of kernel {self._file.kernel} has no sizes of launches: call it with sizes"
            )
        sizes = self._sizes_of_default(numbers)
        if sizes is None or sizes.global_size is None:
            reason = "a size that has no value" if self._problem is None else self._problem.reason
            instead = "tune it again" if self._file.default_version.is_sequence else "pass them"
            raise InvalidInputError(
                f"kernel {self._file.kernel}: the tuned file gives no sizes for this launch ({reason}): {instead}"
            )
        return sizes.global_size, sizes.local_size

    def _sizes_of_default(self, numbers: Sequence[Any]) -> VersionSizes | None:
        given = numbers[: len(self._inputs)]
        return None if len(given) < len(self._inputs) or None in given else self._default_sizes(*given)

    def choose(self, launch: OriginalLaunch, request: LaunchRequest) -> Decision:
        """Return the version for a launch."""
        numbers, has_offset = launch.numbers[:-1], bool(launch.numbers and launch.numbers[-1])
        passed = launch.global_size, launch.local_size
        sizes = self._sizes_of_default(numbers)
        otherwise = partial(self._default, launch, sizes)
        problem = self._problem or self._problems.get(launch.device.int_ptr)
        if problem is not None:
            return otherwise(problem.reason)
        if self._file.has_sizes:
            if sizes is None or passed != (sizes.global_size, sizes.local_size):
                return otherwise("sizes that aren't the default version's for the arguments")
            if has_offset:
                return otherwise("an offset of the first work-item")
        count = len(self._tree.names)
        number = None if len(numbers) < count else self._tree.number(numbers[:count], passed)
        if number is None:
            return otherwise("a feature or a size that has no value")
        reason, picked = _CHOSEN, None if self._picker is None else self._picker.pick(request)
        if picked is not None:
            number, reason = picked
            if number not in self._versions.keys() | self._not_built.keys():
                self._build(number)

        def instead(problem: str) -> Decision:
            return otherwise(f"the version {number}, which can't be launched so: {problem}")

        found = self._own_launch(number, launch)
        if isinstance(found, str):
            return instead(found)
        if found.steps is not None:
            steps = zip(found.steps.kernels, found.steps.coarsened, strict=True)
            names = ", ".join(each.function_name + " coarsened" * (how is not None) for each, how in steps)
            count = 0 if found.sizes is None else len(found.sizes.order)
            reason = f"{count} launches, {reason}: {names}"
        return Decision(self._versions[number].variant, reason, own=found, otherwise=instead)

    def _own_launch(self, number: int, launch: OriginalLaunch) -> OwnLaunch | str:
        """Return what a version is launched with; where it can't be launched, why."""
        version = self._versions.get(number)
        if version is None:
            return self._not_built.get(number, "it isn't built")
        numbers: Sequence[Any] = launch.numbers
        found = version.sizes(*numbers[: len(self._inputs)])
        if found is None:
            return "its sizes have no value, or none that is positive, for these arguments"
        if any(math.prod(each.global_size or ()) > MOST_WORK_ITEMS for each in found.launches):
            return "it has too many work-items"
        whole, local, memory = found.launches[-1] if found.launches else NO_ONE_LAUNCH
        if version.steps is not None:
            own = OriginalLaunch(launch.device, whole or (), local)
            passed = tuple(self._local_memory_of(launch).items())
            return OwnLaunch(own, version.variant.definitions, passed, version.steps, found)
        if whole is None:
            whole, local = launch.global_size, launch.local_size
        own = OriginalLaunch(launch.device, whole, local)
        return self._with_memory(launch, own, version.variant.definitions, memory)

    def _with_memory(
        self, asked: OriginalLaunch, own: OriginalLaunch, macros: Definitions, memory: Mapping[int, int]
    ) -> OwnLaunch:
        """Return a launch with local memory in the place of what is passed of these arguments."""
        passed = self._local_memory_of(asked)
        local_bytes = asked.local_bytes + sum(size - passed.get(index, 0) for index, size in memory.items())
        return OwnLaunch(own._replace(local_bytes=local_bytes), macros, tuple(memory.items()))

    def _local_memory_of(self, launch: OriginalLaunch) -> dict[int, Any]:
        """Return the bytes that a launch passes of arguments that are local memory, as far as they are known."""
        sizes: Numbers = launch.numbers[:-1][len(self._tree.names) :]
        return {place: size for place, size in zip(self._local_places, sizes, strict=False) if size is not None}

    def _default(self, launch: OriginalLaunch, sizes: VersionSizes | None, reason: str) -> Decision:
        """Return how the default version is launched, and say once why.

        Args:
            launch: as it is asked for.
            sizes: the default version's; None where they have no value.
            reason: why nothing else is launched.

        Raises:
            LaunchRefusedError: its macros aren't the source's, and for which of them the sizes are isn't known.
        """
        kernel, macros = self._file.kernel, self._file.default_version.variant.definitions
        words = " ".join(definition_options(macros))
        passed = launch.global_size, launch.local_size
        is_of_these = sizes is not None and passed == (sizes.global_size, sizes.local_size)
        is_other = self._problem is not None and self._problem.is_other_code
        memory = sizes.local_memory if sizes is not None and is_of_these and not is_other else {}
        if self._file.default_version.is_sequence:
            return self._several(launch, is_of_these, reason)
        if self._is_own:
            self._say(f"runs as it is written, not as its tuned file chooses: {reason}", reason)
            own = self._with_memory(launch, launch, (), memory) if memory else None
            return Decision(Variant(), reason, own=own)
        if is_other or (self._file.has_sizes and not is_of_these):
            raise LaunchRefusedError(
                f"kernel {kernel}: the default version of its tuned file has {words}, and the source "
                f"as it stands hasn't; for which of them these sizes are can't be told ({reason}): pass the "
                "default version's sizes, or set these macros in the source"
            )
        if self._file.default not in self._versions:
            raise LaunchRefusedError(
                f"kernel {kernel}: the default version of its tuned file, with {words}, isn't built "
                f"({reason}): set these macros in the source, or tune again"
            )
        self._say(f"runs in its default version, not as its tuned file chooses: {reason}", reason)
        own = self._with_memory(launch, launch, macros, memory)
        return Decision(Variant((), (), macros), reason, own=own)

    def _several(self, launch: OriginalLaunch, is_of_these: bool, reason: str) -> Decision:
        """Return the default version's launches; one launch of a kernel of theirs would be something else."""
        own = self._own_launch(self._file.default, launch) if is_of_these else reason

        def refused(problem: str) -> Decision:
            raise LaunchRefusedError(
                f"kernel {self._file.kernel}: the default version of its tuned file takes several launches, and "
                f"can't be launched ({problem}): call launch(queue, …) without sizes, tune again, or leave the "
                "file out"
            )

        if isinstance(own, str):
            return refused(own)
        self._say(f"runs in its default version, not as its tuned file chooses: {reason}", reason)
        return Decision(self._file.default_version.variant, reason, own=own, otherwise=refused)

    def _say(self, what: str, reason: str) -> None:
        kernel = self._file.kernel
        self._say_once(("as written", kernel, reason), f"kernel {kernel}: {what} (said once)")


def _called_sizes(file: TunedFile, inputs: tuple[str, ...]) -> Callable[..., VersionSizes | None]:
    """Return a function of the inputs that returns the sizes that a call passes, if they have values."""
    compute = sequence_function(file, file.default_version, inputs)

    def sizes(*given: int) -> VersionSizes | None:
        found = compute(*given)
        return found and (NO_ONE_LAUNCH if file.default_version.is_sequence else found.launches[0])

    return sizes


def _builds_variants(plan: CoarseningPlan, kernel: str, wanted: Variant) -> bool:
    """Build the variants that launches may call for: plain, guarded, with what is taken for granted or not."""
    transforms = [wanted.transforms]
    if wanted.transforms.wide_accesses:
        transforms.append(replace(wanted.transforms, wide_accesses=False))
    if wanted.transforms.distinct:
        transforms += [replace(each, distinct=False) for each in transforms]
    for each in transforms:
        plain = plan.variant_of(wanted.coarsenings, False, each, (), wanted.definitions)
        if plan.variant(kernel, plain) is None:
            return False
        code = plan.code(kernel, plain)
        guarded = replace(plain, any_size=True)
        if code is not None and not code.needs_whole_groups and plan.code(kernel, guarded) is not None:
            plan.variant(kernel, guarded)
    return True


def _problem_of_content(
    file: TunedFile,
    source: str,
    options: Sequence[str],
    devices: Sequence[pyopencl.Device],
    cache_dir: CacheFolder,
) -> Problem | None:
    """Check what a file for the program's own source defines and computes from.

    Returns:
        Why it can't be checked; None where all is well.

    Raises:
        InvalidInputError: something of it isn't the source's.
    """
    check_definitions(file, source)
    if not uses_arguments(file):
        return None
    try:
        own = kernel_signature(source, file.kernel, options, common_macros_of(devices), cache_dir)
    except CoarsenError as error:
        return Problem(f"its arguments can't be compared with the kernel's: {' '.join(str(error).split())[:300]}")
    check_arguments(file, own)
    return None


def _numbers_function(file: TunedFile, wanted: Sequence[str | int]) -> Callable[[tuple[Argument, ...]], Numbers]:
    """Return a function of arguments that returns numbers by name; None for what is no number of its kind.

    Args:
        file: of the kernel.
        wanted: names of arguments, and of buffers with `bytes_` before them; of local memory, indices.
    """
    parts: dict[str | int, str] = {}
    for index, argument in enumerate(file.arguments):
        parts[index] = f"size(a[{index}])"
        if argument.kind is ArgumentKind.BUFFER:
            parts[BYTES + argument.name] = f"size(a[{index}])"
        elif argument.kind in (ArgumentKind.WHOLE, ArgumentKind.REAL):
            parts[argument.name] = f"{argument.kind.value}(a[{index}])"
    return tuple_function(
        [parts.get(name, "None") for name in wanted], {"size": _bytes_of, "whole": _whole, "real": _real}
    )


def _bytes_of(value: Argument) -> int | None:
    """Return the size of a memory object; 0 for NULL, None where it isn't known."""
    size = 0 if value is None else getattr(value, "size", None)
    return size if isinstance(size, int) else None


def _whole(value: Argument) -> int | None:
    return int(value) if isinstance(value, _WHOLE) else None


def _real(value: Argument) -> float | None:
    return float(value) if isinstance(value, (*_REAL, *_WHOLE)) else None
