"""The key of what is remembered for a launch, and the facts of its kernel that it depends on.

source, options, device's macros, code ──▶ facts on disk, beside coarsened text ──▶ key of a launch
    └── where there are none: compiled, and stored
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.runtime.code import without_words
from coarsen.runtime.text_cache.key import kept
from coarsen.runtime.text_cache.store import CacheFolder, store_of
from coarsen.runtime.toolchain import CompiledSources
from coarsen.tuning.remembered.choice import RememberedKey, SizeClass, allowed_text
from coarsen.variant.transforms import ASSUMING, Transforms
from coarsen.variant.variant_json import transforms_to_json

# What these say is in the kernel's normal form.
_IN_THE_CODE = ("-D", "-I")
# Without any, it is this one.
_STANDARD = "-cl-std=CL1.2"
# Of these facts: with another meaning of one of them, it is another number.
_FORMAT = 1


def key_of(
    ir_hash: str,
    kernel: str,
    device: DeviceDescription,
    options: Sequence[str],
    transforms: Transforms,
    size_class: SizeClass,
) -> RememberedKey:
    """Return the key of a launch.

    Args:
        ir_hash: of the kernel's normal form.
        kernel: its name.
        device: where it runs.
        options: build options, one by one; those that change the code in the end, and not its normal form, count.
        transforms: what the program allows; those that take something for granted are the tuning's to decide.
        size_class: of the launch.
    """
    # What tuning decides by itself, whatever the program allows where nothing is remembered.
    allowed = {name: value for name, value in transforms_to_json(transforms).items() if name not in ASSUMING}
    allowed["options"] = [word for word in without_words(options, _IN_THE_CODE) if word != _STANDARD]
    return RememberedKey(
        ir_hash,
        kernel,
        device.vendor,
        device.name,
        device.platform_name,
        allowed_text({**allowed, "compute_units": device.compute_units}),
        size_class,
    )


class KernelFacts(NamedTuple):
    """The SHA-256 of a kernel's normal form, in hexadecimal digits, and whether its work-groups matter to it."""

    ir_hash: str
    groups_matter: bool


def kernel_facts(
    source: str,
    kernel: str,
    options: Sequence[str],
    macros: DeviceMacros,
    cache_dir: CacheFolder = None,
    sources: CompiledSources | None = None,
) -> KernelFacts:
    """Return the facts of a kernel: from the cache, or compiled to its normal form.

    Args:
        source: OpenCL C.
        kernel: its name.
        options: build options, one by one.
        macros: what the source may find out about its device.
        cache_dir: as `pyopencl.Program.build` takes it.
        sources: compiles it, if it must be; None where no other kernel of the source is asked for.

    Raises:
        InvalidInputError: it does not compile.
        RefusalError: it can't be read.
    """
    told = {"facts": _FORMAT, "kernel": kernel}
    make = partial(_compiled, sources or CompiledSources(), source, kernel, options, macros)
    return kept(store_of(cache_dir), KernelFacts, source, options, macros, told, make)


def _compiled(
    sources: CompiledSources, source: str, kernel: str, options: Sequence[str], macros: DeviceMacros
) -> KernelFacts:
    # Imported late: these load LLVM, which takes longer than the start of a program of PyOpenCL's.
    from coarsen.analysis.legality import groups_matter
    from coarsen.frontend.lower import lower
    from coarsen.ir.graph.printer import module_text
    from coarsen.ir.hashed_text import hashed_text

    lowered = lower(sources.unit(source, options, macros), kernel)
    text = hashed_text(module_text(lowered.graph))
    return KernelFacts(hashlib.sha256(text.encode()).hexdigest(), groups_matter(lowered))
