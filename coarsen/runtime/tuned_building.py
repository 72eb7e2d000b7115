"""Builds the versions of a tuned file for a program: all that a launch may need, so that none builds anything.

Each version has a plan of its own, whose policy always decides for that version. So how a launch of it is
carried out is decided as for any other kernel: guarded where sizes don't divide, without wide accesses where a
buffer is large, as it is written where nothing else is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import pyopencl
from pyopencl._cl import Kernel as PlainKernel
from pyopencl._cl import _Program as RawProgram

from coarsen.devices.building import build_for_launches
from coarsen.dispatch.launch_sizes import (
    PassedArgument,
    SequenceSizes,
    VersionSizes,
    passed_arguments,
    sequence_function,
    size_inputs,
    sizes_function,
)
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import CoarsenError
from coarsen.frontend.annotations import source_without_pragmas
from coarsen.runtime.advice import AdviceRequest, Decision
from coarsen.runtime.choice import limits_of
from coarsen.runtime.code import allows_uneven_groups
from coarsen.runtime.launch import LaunchLimits, Sizes, fits, has_work, is_plain, required_local_size
from coarsen.runtime.launches import KernelLaunches, LaunchedVariant
from coarsen.runtime.plan import CoarseningPlan, Requested
from coarsen.runtime.text_cache.store import CacheFolder
from coarsen.runtime.toolchain import Toolchain
from coarsen.runtime.tuned_checks import definition_options, options_without, problem_of_sizes
from coarsen.variant.coarsening import Level
from coarsen.variant.variant import Definitions, Variant


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """The settings that a program is built with.

    Args:
        context: to build for.
        source: the program's, as its author wrote it.
        options: the build options, one by one.
        devices: of the context, to build for; None for all.
        toolchain: what coarsens.
        cache_dir: of binaries and of coarsened text.
    """

    context: pyopencl.Context
    source: str
    options: tuple[str, ...]
    devices: Sequence[pyopencl.Device] | None
    toolchain: Toolchain
    cache_dir: CacheFolder


@dataclass(frozen=True, slots=True)
class OneVersion:
    """The policy that always decides for one version."""

    variant: Variant
    looks_at_arguments: bool = False

    def known_variants(self, request: AdviceRequest) -> tuple[Variant, ...]:
        """Return nothing: the builder of the versions builds them."""
        return ()

    def choose(self, request: AdviceRequest) -> Decision:
        """Return the version."""
        return Decision(self.variant, "as the tuned file chooses")


def build_versions(
    file: TunedFile, settings: BuildSettings, wanted: Collection[int]
) -> tuple[tuple[AnyBuilt | None, ...], dict[int, str]]:
    """Build versions of a file.

    Args:
        file: the tuned file.
        settings: what the program was built with.
        wanted: the numbers of the versions.

    Returns:
        The versions, None for those that can't be used; and why they can't, by their numbers.
    """
    builder = _Builder(file, settings)
    built: list[AnyBuilt | None] = []
    problems: dict[int, str] = {}
    for number, version in enumerate(file.versions):
        try:
            built.append(builder.version(number, version) if number in wanted else None)
        except (CoarsenError, pyopencl.Error) as error:
            built.append(None)
            problems[number] = " ".join(str(error).split())[:500]
    return tuple(built), problems


class _NotUsableError(CoarsenError):
    """A version that no launch may run."""


class _Builder:
    def __init__(self, file: TunedFile, settings: BuildSettings) -> None:
        self._file = file
        self._settings = settings
        self._inputs = size_inputs(file)
        self._devices = tuple(settings.devices or settings.context.devices)
        self._programs: dict[Definitions, pyopencl.Program] = {}

    def version(self, number: int, version: TunedVersion) -> AnyBuilt:
        """Return a version with all its variants built; raises CoarsenError or pyopencl.Error."""
        limits = (
            LaunchLimits(each.max_work_group_size, tuple(each.max_work_item_sizes)) for each in self._devices
        )
        if problem := problem_of_sizes(version.variant, limits):
            raise _NotUsableError(problem)
        program = self._program(version.variant.definitions)
        if version.is_sequence:
            return self._sequence(number, version, program)
        return self._one(number, version, program)

    def _one(self, number: int, version: TunedVersion, program: pyopencl.Program) -> BuiltVersion:
        kernel = version.launches[0].kernel if version.launches else self._file.kernel
        variant, settings = version.variant, self._settings
        plan = CoarseningPlan(
            settings.context,
            self._source(variant.definitions),
            self._options(variant.definitions),
            settings.devices,
            Requested(),
            (kernel,),
            "opencl_c",
            settings.toolchain,
            partial(PlainKernel, program),
            variant.transforms,
            settings.cache_dir,
            OneVersion(replace(variant, definitions=())),
        )
        self._build_variants(plan, kernel, version)
        launches = KernelLaunches(program, kernel, plan)
        if launches.argument_count != len(self._file.arguments):
            raise _NotUsableError(f"its kernel takes {launches.argument_count} arguments")
        plan.seal()
        original, facts = PlainKernel(program, kernel), {}
        for device in self._devices:
            division = exact_division(variant, launches, original, device) if variant.is_coarsened else None
            facts[device.int_ptr] = device_facts(device, original, variant.is_coarsened, division)
        sizes = sizes_function(self._file, version, self._inputs)
        transforms = variant.transforms
        return BuiltVersion(number, launches, sizes, facts, transforms.wide_accesses, transforms.distinct)

    def _sequence(self, number: int, version: TunedVersion, program: pyopencl.Program) -> BuiltSequence:
        """Return a version of several launches, which run as they are written."""
        kernels = [PlainKernel(program, launch.kernel) for launch in version.launches]
        passed = tuple(passed_arguments(version, launch, self._file.arguments) for launch in version.launches)
        for kernel, arguments in zip(kernels, passed, strict=True):
            if kernel.num_args != len(arguments):
                raise _NotUsableError(
                    f"its kernel {kernel.function_name} takes {kernel.num_args} arguments, and is passed "
                    f"{len(arguments)}"
                )
        untyped: Any = program
        return BuiltSequence(
            number,
            untyped._get_prg(),
            tuple(launch.kernel for launch in version.launches),
            passed,
            sequence_function(self._file, version, self._inputs),
            {
                device.int_ptr: tuple(device_facts(device, kernel, False, None) for kernel in kernels)
                for device in self._devices
            },
            allows_uneven_groups(self._options(version.variant.definitions)),
        )

    def _build_variants(self, plan: CoarseningPlan, kernel: str, version: TunedVersion) -> None:
        """Build the variants that launches may call for: plain, guarded, with what is taken for granted or not."""
        wanted = version.variant
        if wanted.local_size and not version.launches:
            # Whether the local size may be another than the caller's.
            plan.groups_matter(kernel, wanted)
        if not wanted.is_coarsened:
            return
        transforms = [wanted.transforms]
        if wanted.transforms.wide_accesses:
            transforms.append(replace(wanted.transforms, wide_accesses=False))
        if wanted.transforms.distinct:
            transforms += [replace(each, distinct=False) for each in transforms]
        for each in transforms:
            plain = plan.variant_of(wanted.coarsenings, False, each)
            if plan.variant(kernel, plain) is None:
                raise _NotUsableError(f"the device or coarsen doesn't make it: {wanted}")
            code = plan.code(kernel, plain)
            guarded = plan.variant_of(wanted.coarsenings, True, each)
            if code is not None and not code.needs_whole_groups and plan.code(kernel, guarded) is not None:
                plan.variant(kernel, guarded)

    def _options(self, definitions: Definitions) -> tuple[str, ...]:
        """Return the program's build options, with some macros in the place of its own."""
        return (*options_without(self._settings.options, dict(definitions)), *definition_options(definitions))

    def _source(self, definitions: Definitions) -> str:
        source = self._settings.source
        if not definitions:
            return source
        return source_without_pragmas(source, "the source", [name for name, _ in definitions])

    def _program(self, definitions: Definitions) -> pyopencl.Program:
        """Return the program as it is written, with some macros; built once."""
        if definitions not in self._programs:
            settings = self._settings
            self._programs[definitions] = build_for_launches(
                settings.context,
                self._source(definitions),
                self._options(definitions),
                settings.devices,
                settings.cache_dir,
            )
        return self._programs[definitions]


# The launch of a version whose sizes divide, at once: as `LaunchChooser` has it, from facts kept of the version.
#
# To ask the driver and to weigh guards and smaller factors takes longer than a launch. Most launches of a tuned
# kernel divide, and need none of that; of the others nothing is said here.

_INFO = pyopencl.kernel_work_group_info


@dataclass(frozen=True, slots=True)
class ExactDivision:
    """Divides launches of one version on one device.

    Args:
        launched: the variant without a guard.
        parts: dimensions, in their order, each with its factor of work-items and the stride.
        most_items: of a coarsened work-group.
        may_be_open: whether the local size may be left to the driver.
    """

    launched: LaunchedVariant
    parts: tuple[tuple[int, int, int], ...]
    most_items: int
    may_be_open: bool

    def divided(self, global_size: Sizes, local_size: Sizes | None) -> tuple[Sizes, Sizes | None] | None:
        """Return the sizes of the coarsened launch; None where more has to be looked at.

        Args:
            global_size: of the original launch, in work-items.
            local_size: of the original launch; None: left to the driver.
        """
        if len(global_size) == 1 and local_size is not None and len(local_size) == 1 and len(self.parts) == 1:
            # The most common launch, without any call.
            (dimension, factor, stride), size, extent = self.parts[0], local_size[0], global_size[0]
            left = size // factor
            fits = size > 1 and extent > 0 and extent % size == 0 and size % factor == 0
            if dimension or not fits or left % stride or left > self.most_items:
                return None
            return (extent // factor,), (left,)
        if self.parts[-1][0] >= len(global_size) or min(global_size) < 1:
            return None
        whole = list(global_size)
        if local_size is None:
            if not self.may_be_open:
                return None
            for dimension, factor, _ in self.parts:
                whole[dimension], rest = divmod(whole[dimension], factor)
                if rest:
                    return None
            return tuple(whole), None
        if len(local_size) != len(global_size) or min(local_size) < 1:
            return None
        if any(local_size[dimension] == 1 for dimension, _, _ in self.parts):
            # In a group of one work-item, there is none to merge with.
            return None
        return self._merged(whole, local_size)

    def _merged(self, whole: list[int], local_size: Sizes) -> tuple[Sizes, Sizes | None] | None:
        for extent, size in zip(whole, local_size, strict=True):
            if extent % size:
                return None
        local = list(local_size)
        for dimension, factor, stride in self.parts:
            local[dimension], rest = divmod(local[dimension], factor)
            if rest or local[dimension] % stride:
                return None
            whole[dimension] //= factor
        return None if math.prod(local) > self.most_items else (tuple(whole), tuple(local))


def exact_division(
    variant: Variant, launches: KernelLaunches, original: pyopencl.Kernel, device: pyopencl.Device
) -> ExactDivision | None:
    """Return what divides a version's launches on a device; None where each has to be looked at.

    Args:
        variant: one that is built, coarsened.
        launches: of the version.
        original: a kernel object of it as it is written.
        device: of its context.
    """
    if variant.merges_groups or required_local_size(original, device) is not None:
        return None
    plan = launches.plan
    plain = plan.variant_of(variant.coarsenings, False, variant.transforms)
    code, kernel = plan.code(launches.name, plain), plan.variant(launches.name, plain)
    launched = launches.launched(plain)
    if code is None or kernel is None or launched.is_conditional or launched.added:
        return None
    parts = tuple((entry.dimension, entry.factor, entry.stride) for entry in variant.coarsenings)
    is_plain = all(entry.level is Level.ITEM and entry.factor > 1 for entry in variant.coarsenings)
    may_be_open = not code.needs_whole_groups and all(stride == 1 for _, _, stride in parts)
    limit = int(kernel.get_work_group_info(_INFO.WORK_GROUP_SIZE, device))
    return ExactDivision(launched, tuple(sorted(parts)), limit, may_be_open) if is_plain and parts else None


# What is known of a version on a device once it is built, so that its launches need not ask the driver.


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """One version on one device.

    Args:
        limits: of its kernel as it is written.
        most_items: of a work-group of one dimension.
        required: the local size that this demands; None for any.
        own_local_memory: its bytes, before any is passed.
        local_memory: the device's bytes for a work-group.
        division: divides the launches of a coarsened version; None where each has to be looked at.
        is_coarsened: whether it is.
    """

    limits: LaunchLimits
    most_items: int
    required: Sizes | None
    own_local_memory: int
    local_memory: int
    division: ExactDivision | None
    is_coarsened: bool

    def holds(self, local_bytes: int) -> bool:
        """Return True if the device has the local memory of a work-group that is passed so many bytes."""
        return self.own_local_memory + local_bytes <= self.local_memory

    def reason_against(self, whole: Sizes, local: Sizes | None, local_bytes: int) -> str:
        """Say why `allow` is False; as this is logged once, without the numbers of one launch alone."""
        if not self.holds(local_bytes):
            return f"its work-groups need more local memory than the device's {self.local_memory} bytes"
        if not has_work(whole, local):
            return "its global and local sizes don't go together"
        if local is not None and not fits(local, self.limits):
            most = self.limits.max_work_group_size
            return f"its work-groups are too large for the device, which takes {most} work-items of it"
        if local is not None and self.required is not None and self.required[: len(local)] != local:
            return f"its kernel requires the local size {self.required}"
        return "its local size doesn't divide its global size"

    def allow(self, whole: Sizes, local: Sizes | None, local_bytes: int, any_groups: bool = False) -> bool:
        """Return True if a launch of the kernel as it is written works."""
        if not self.holds(local_bytes):
            return False
        if self.required is None and local is not None and len(local) == len(whole) == 1:
            # The most common launch, without any call.
            size = local[0]
            if 0 < size <= self.most_items and whole[0] > 0 and whole[0] % size == 0:
                return True
        if not (is_plain(whole, local) or (any_groups and has_work(whole, local))):
            return False
        if local is None:
            return True
        return fits(local, self.limits) and (self.required is None or self.required[: len(local)] == local)

    def decided(
        self, whole: Sizes, local: Sizes | None, local_bytes: int
    ) -> tuple[LaunchedVariant | None, Sizes, Sizes | None] | None:
        """Return the variant (None: as it is written) and the sizes of a launch that is simple; None for others.

        Args:
            whole: the global size that the version has for the launch, before anything is merged.
            local: the local size; None: left to the driver.
            local_bytes: of local memory that the arguments give a work-group.
        """
        if not self.is_coarsened:
            return (None, whole, local) if self.allow(whole, local, local_bytes) else None
        divided = None if self.division is None else self.division.divided(whole, local)
        return None if divided is None or self.division is None else (self.division.launched, *divided)


def device_facts(
    device: pyopencl.Device, kernel: pyopencl.Kernel, is_coarsened: bool, division: ExactDivision | None
) -> DeviceFacts:
    """Return what is known of a version.

    Args:
        device: that it is built for.
        kernel: a kernel object of it as it is written.
        is_coarsened: whether that isn't what is launched.
        division: as `DeviceFacts` has it.
    """
    limits = limits_of(device, kernel)
    return DeviceFacts(
        limits,
        min(limits.max_work_group_size, limits.max_work_item_sizes[0]),
        required_local_size(kernel, device),
        int(kernel.get_work_group_info(_INFO.LOCAL_MEM_SIZE, device)),
        int(device.local_mem_size),
        division,
        is_coarsened,
    )


# Versions of a tuned file that are built for a program.


@dataclass(frozen=True, slots=True)
class BuiltVersion:
    """A version of one launch.

    `sizes` computes what it is launched with; `facts` are by the address of the device.
    """

    number: int
    launches: KernelLaunches
    sizes: Callable[..., VersionSizes | None]
    facts: dict[int, DeviceFacts]
    has_wide_accesses: bool
    is_distinct: bool


@dataclass(frozen=True, slots=True)
class BuiltSequence:
    """A version of several launches, as they are written.

    Args:
        number: of the version.
        program: that kernel objects are made from.
        kernels: the names of the launched kernels, in this order.
        passed: the arguments of each.
        sizes: computes what they are launched with.
        facts: of each launch, by the address of the device.
        any_groups: whether a local size need not divide the global size.
    """

    number: int
    program: RawProgram
    kernels: tuple[str, ...]
    passed: tuple[tuple[PassedArgument, ...], ...]
    sizes: Callable[..., SequenceSizes | None]
    facts: dict[int, tuple[DeviceFacts, ...]]
    any_groups: bool


AnyBuilt: TypeAlias = BuiltVersion | BuiltSequence
