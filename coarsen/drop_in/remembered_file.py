"""Tables of versions from what is remembered of a kernel at several sizes: tuned files that nobody wrote.

    program = coarsen.Program(context, source, tuned="remembered").build()

Of a tuning, the best version is remembered and what it gains, not the times of others. So no break-even can be
computed, and between two sizes the nearer one's version is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pyopencl

from coarsen.devices.discovery import describe_device
from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.dispatch.tuned_file import JSON, TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.distribution import __version__
from coarsen.drop_in.advisor import is_allowed
from coarsen.drop_in.kernel_facts import kernel_facts
from coarsen.drop_in.keys import key_of
from coarsen.drop_in.remembered_tree import FEATURES, RememberedSize, remembered_tree
from coarsen.frontend.source_hash import hash_with_headers
from coarsen.opencl_bench.results.remembered.choice import RememberedChoice, SizeClass, problem_of
from coarsen.opencl_bench.results.remembered.look_up import anything_remembered, remembered_choices
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.runtime.build_options import BuildOptions, device_options
from coarsen.runtime.compiled_sources import CompiledSources
from coarsen.runtime.text_cache.location import CacheFolder
from coarsen.runtime.tuned_checks import own_options
from coarsen.variant.transforms import Transforms, device_kind_of
from coarsen.variant.variant import Variant

# Of a tuned file; the sizes that were found last count.
_MOST_VERSIONS = 64


@dataclass(frozen=True, slots=True)
class RememberedKernel:
    """A kernel of a program, of which something may be remembered.

    Args:
        source: OpenCL C, of the program.
        name: the kernel's.
        arguments: how many it takes.
        options: the build options, as they were given.
        transforms: that the program allows.
        cache_dir: as `pyopencl.Program.build` takes it.
        sources: compiles the source, if it must be, once for all kernels that have the same.
    """

    source: str
    name: str
    arguments: int
    options: BuildOptions = None
    transforms: Transforms = field(default_factory=Transforms)
    cache_dir: CacheFolder = None
    sources: CompiledSources = field(default_factory=CompiledSources, compare=False)


def remembered_file(
    kernel: RememberedKernel, device: pyopencl.Device, settings: Tune | None = None
) -> TunedFile | None:
    """Return the versions that are remembered of a kernel on a device, with the tree that chooses by size.

    Args:
        kernel: as a program has it.
        device: where it runs.
        settings: where things are remembered, and what of it may be used.

    Returns:
        A tuned file for `coarsen.Program`, or to be written; None where nothing is remembered that still holds.

    Raises:
        InvalidInputError: the store can't be read; the source does not compile.
        RefusalError: the kernel can't be read.
    """
    settings = settings or Tune()
    choices = _choices(kernel, device, settings)
    versions: dict[Variant, int] = {Variant(): 0}
    sizes: list[RememberedSize] = []
    for choice in choices:
        if len(versions) == _MOST_VERSIONS and not (choice.leaves_as_is or choice.variant in versions):
            continue
        number = 0 if choice.leaves_as_is else versions.setdefault(choice.variant, len(versions))
        sizes.append(RememberedSize(choice.global_size, choice.key.size_class.local_size, number))
    if len(versions) == 1:
        return None
    return TunedFile(
        kernel=kernel.name,
        arguments=tuple(KernelArgument(f"arg{index}", ArgumentKind.OTHER) for index in range(kernel.arguments)),
        source_hash=hash_with_headers(kernel.source, device_options(kernel.options)),
        device=device.name.strip(),
        driver=device.driver_version.strip(),
        build_options=own_options(kernel.options),
        coarsen_version=__version__,
        features=FEATURES,
        versions=tuple(map(TunedVersion, versions)),
        default=0,
        tree=remembered_tree(sizes, 0),
        evidence={"remembered": [_evidence(choice) for choice in choices]},
    )


def _choices(kernel: RememberedKernel, device: pyopencl.Device, settings: Tune) -> list[RememberedChoice]:
    """The choices that hold and are allowed, those that were found last first."""
    if not anything_remembered(settings.store, kernel.name):
        return []
    described = describe_device(device)
    options = device_options(kernel.options)
    facts = kernel_facts(kernel.source, kernel.name, options, described.macros, kernel.cache_dir, kernel.sources)
    transforms = replace(kernel.transforms, device_kind=device_kind_of(described.device_types))
    key = key_of(facts.ir_hash, kernel.name, described, options, transforms, SizeClass.of((1,), None))
    found = [
        choice
        for choice in remembered_choices(settings.store, kernel.name)
        if replace(choice.key, size_class=key.size_class) == key
        and problem_of(choice, described.driver_version, described.platform_version) is None
        and choice.has_result
        and is_allowed(choice.variant, settings)
    ]
    return sorted(found, key=lambda choice: (choice.found_at, choice.key.digest), reverse=True)


def _evidence(choice: RememberedChoice) -> JSON:
    return {
        "sizes": str(choice.key.size_class),
        "global_size": [*choice.global_size],
        "speedup": choice.speedup.ratio,
        "found_at": choice.found_at,
    }
