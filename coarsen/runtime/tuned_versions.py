"""The versions of a tuned file, built for a program: all that a launch may need, so that none builds anything.

Each version has a plan of its own, whose advisor always answers with that version. So how a launch of it is
carried out is decided as for any other kernel: guarded where sizes don't divide, without wide accesses where a
buffer is large, as it is written where nothing else is right.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyopencl
from pyopencl._cl import Kernel as PlainKernel

from coarsen.devices.building import build_for_launches
from coarsen.dispatch.launch_sizes import VersionSizes, size_inputs, sizes_function
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import CoarsenError
from coarsen.frontend.annotations import source_without_pragmas
from coarsen.runtime.advice import Advice, AdviceRequest
from coarsen.runtime.launches import KernelLaunches, LaunchedVariant
from coarsen.runtime.original_launch import required_local_size
from coarsen.runtime.plan import CoarseningPlan
from coarsen.runtime.requested import Requested
from coarsen.runtime.sizes import LaunchLimits, Sizes, fits, has_work, is_plain
from coarsen.runtime.text_cache.location import CacheFolder
from coarsen.runtime.toolchain import Toolchain
from coarsen.runtime.tuned_division import ExactDivision, exact_division
from coarsen.runtime.tuned_macros import definition_options, options_without
from coarsen.runtime.variant_choice import limits_of
from coarsen.variant.variant import Definitions, Variant

_INFO = pyopencl.kernel_work_group_info


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

    def allow(self, whole: Sizes, local: Sizes | None, local_bytes: int, any_groups: bool = False) -> bool:
        """Return True if a launch of the kernel as it is written works."""
        if self.own_local_memory + local_bytes > self.local_memory:
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


@dataclass(frozen=True, slots=True)
class BuiltVersion:
    """A version that is built.

    `sizes` computes what it is launched with; `facts` are by the address of the device.
    """

    number: int
    launches: KernelLaunches
    sizes: Callable[..., VersionSizes | None]
    facts: dict[int, DeviceFacts]
    has_wide_accesses: bool


@dataclass(frozen=True, slots=True)
class VersionAdvisor:
    """Advises one version always."""

    variant: Variant
    looks_at_arguments: bool = False

    def advise(self, request: AdviceRequest) -> Advice:
        """Return the version."""
        return Advice(self.variant, "as the tuned file chooses")


def build_versions(
    file: TunedFile, settings: BuildSettings, wanted: Collection[int]
) -> tuple[tuple[BuiltVersion | None, ...], dict[int, str]]:
    """Build versions of a file.

    Args:
        file: the tuned file.
        settings: what the program was built with.
        wanted: the numbers of the versions.

    Returns:
        The versions, None for those that can't be used; and why they can't, by their numbers.
    """
    builder = _Builder(file, settings)
    built: list[BuiltVersion | None] = []
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
        self._programs: dict[Definitions, pyopencl.Program] = {}

    def version(self, number: int, version: TunedVersion) -> BuiltVersion:
        """Return a version with all its variants built; raises CoarsenError or pyopencl.Error."""
        if version.is_sequence:
            raise _NotUsableError("it takes several launches, which coarsen.Program can't make")
        kernel = version.launches[0].kernel if version.launches else self._file.kernel
        definitions = version.variant.definitions
        program, source = self._program(definitions), self._source(definitions)
        options = self._options(definitions)
        plan = CoarseningPlan(
            self._settings.context,
            source,
            options,
            self._settings.devices,
            Requested(),
            (kernel,),
            "opencl_c",
            self._settings.toolchain,
            partial(PlainKernel, program),
            version.variant.transforms,
            self._settings.cache_dir,
            VersionAdvisor(replace(version.variant, definitions=())),
        )
        self._build_variants(plan, kernel, version)
        launches = KernelLaunches(program, kernel, plan)
        if launches.argument_count != len(self._file.arguments):
            raise _NotUsableError(f"its kernel takes {launches.argument_count} arguments")
        plan.seal()
        return BuiltVersion(
            number,
            launches,
            sizes_function(self._file, version, self._inputs),
            self._facts(version.variant, launches, PlainKernel(program, kernel)),
            version.variant.transforms.wide_accesses,
        )

    def _build_variants(self, plan: CoarseningPlan, kernel: str, version: TunedVersion) -> None:
        """Build the variants that a launch may call for: plain and guarded, with wide accesses and without."""
        wanted = version.variant
        if wanted.local_size and not version.launches:
            # Whether the local size may be another than the caller's.
            plan.groups_matter(kernel, wanted)
        if not wanted.is_coarsened:
            return
        transforms = [wanted.transforms]
        if wanted.transforms.wide_accesses:
            transforms.append(replace(wanted.transforms, wide_accesses=False))
        for each in transforms:
            plain = plan.variant_of(wanted.coarsenings, False, each)
            if plan.variant(kernel, plain) is None:
                raise _NotUsableError(f"the device or coarsen doesn't make it: {wanted}")
            code = plan.code(kernel, plain)
            guarded = plan.variant_of(wanted.coarsenings, True, each)
            if code is not None and not code.needs_whole_groups and plan.code(kernel, guarded) is not None:
                plan.variant(kernel, guarded)

    def _options(self, definitions: Definitions) -> tuple[str, ...]:
        """The program's build options, with some macros in the place of its own."""
        return (*options_without(self._settings.options, dict(definitions)), *definition_options(definitions))

    def _source(self, definitions: Definitions) -> str:
        source = self._settings.source
        if not definitions:
            return source
        return source_without_pragmas(source, "the source", [name for name, _ in definitions])

    def _program(self, definitions: Definitions) -> pyopencl.Program:
        """The program as it is written, with some macros; built once."""
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

    def _facts(
        self, variant: Variant, launches: KernelLaunches, kernel: pyopencl.Kernel
    ) -> dict[int, DeviceFacts]:
        facts = {}
        for device in self._settings.devices or self._settings.context.devices:
            limits = limits_of(device, kernel)
            facts[device.int_ptr] = DeviceFacts(
                limits,
                min(limits.max_work_group_size, limits.max_work_item_sizes[0]),
                required_local_size(kernel, device),
                int(kernel.get_work_group_info(_INFO.LOCAL_MEM_SIZE, device)),
                int(device.local_mem_size),
                exact_division(variant, launches, kernel, device) if variant.is_coarsened else None,
                variant.is_coarsened,
            )
        return facts
