"""Builds the versions of a tuned file for a program: all that a launch may need, so that none builds anything.

Each version has a plan of its own, whose policy always decides for that version. So how a launch of it is
carried out is decided as for any other kernel: guarded where sizes don't divide, without wide accesses where a
buffer is large, as it is written where nothing else is right.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyopencl
from pyopencl._cl import Kernel as PlainKernel

from coarsen.devices.building import build_for_launches
from coarsen.dispatch.launch_sequence import passed_arguments, sequence_function
from coarsen.dispatch.launch_sizes import size_inputs, sizes_function
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import CoarsenError
from coarsen.frontend.annotations import source_without_pragmas
from coarsen.runtime.advice import AdviceRequest, Decision
from coarsen.runtime.build_options import allows_uneven_groups
from coarsen.runtime.launches import KernelLaunches
from coarsen.runtime.plan import CoarseningPlan
from coarsen.runtime.requested import Requested
from coarsen.runtime.sizes import LaunchLimits
from coarsen.runtime.text_cache.location import CacheFolder
from coarsen.runtime.toolchain import Toolchain
from coarsen.runtime.tuned_checks import problem_of_sizes
from coarsen.runtime.tuned_device import device_facts
from coarsen.runtime.tuned_division import exact_division
from coarsen.runtime.tuned_macros import definition_options, options_without
from coarsen.runtime.tuned_versions import AnyBuilt, BuiltSequence, BuiltVersion
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
