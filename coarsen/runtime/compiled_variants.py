"""The facts of a kernel's variants as a device at hand compiles them, the kernel as it is among them.

source ─┬─ as it is ──────────────┐
        └─ coarsened, OpenCL C ───┴─▶ device's compiler (never launched) ─▶ facts, cached on disk
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.devices.compiled.build import ProgramText
from coarsen.devices.compiled.reading import Reading, read_compiled_facts
from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.slow_compilers import most_ways_by_barriers
from coarsen.errors import RefusalError
from coarsen.runtime.code import Codes
from coarsen.runtime.text_cache.compiled import CachedFacts, ReadFunction
from coarsen.runtime.text_cache.location import CacheFolder, text_folder
from coarsen.runtime.text_cache.store import Store
from coarsen.runtime.text_cache.toolchain import cached_toolchain
from coarsen.variant.coarsening import Level
from coarsen.variant.variant import LocalSize, Variant


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A kernel in OpenCL C.

    Args:
        kernel: its name.
        source: the text that it is in.
        options: build options, one by one.
    """

    kernel: str
    source: str
    options: tuple[str, ...] = ()


def compiled_variants(
    kernel: KernelSource,
    device: DeviceDescription,
    variants: Sequence[Variant],
    cache_dir: CacheFolder = None,
    read: ReadFunction | None = None,
) -> list[Reading]:
    """Compile variants of a kernel and return what the device's compiler made of each.

    Args:
        kernel: to compile.
        device: of this machine.
        variants: an uncoarsened one stands for the source as it is.
        cache_dir: as `pyopencl.Program.build` takes it.
        read: compiles what isn't cached; None for the device's compiler.

    Returns:
        A reading for each variant: its facts, or why there are none (a refusal, the compiler's error, its crash).

    Raises:
        InvalidInputError: a bad source or option.
    """
    texts = _texts(kernel, device, variants, cache_dir)
    programs = [text for text in texts if isinstance(text, ProgramText)]
    folder = text_folder(cache_dir)
    compiler = read or read_compiled_facts
    readings = iter((compiler if folder is None else CachedFacts(compiler, Store(folder)))(device, programs))
    return [next(readings) if isinstance(text, ProgramText) else text for text in texts]


def _texts(
    kernel: KernelSource, device: DeviceDescription, variants: Sequence[Variant], cache_dir: CacheFolder
) -> list[ProgramText | Reading]:
    """Return the text of each variant; a reading without facts of one that is refused."""
    toolchain = cached_toolchain(device.macros, "opencl_c", cache_dir)
    most_ways = most_ways_by_barriers([device.platform_version])
    texts: list[ProgramText | Reading] = []
    for variant in variants:
        options = (*kernel.options, *(f"-D{name}={value}" for name, value in variant.definitions))
        if not variant.is_coarsened:
            texts.append(ProgramText(kernel.kernel, kernel.source, options, variant.local_size))
            continue
        codes = Codes(kernel.source, options, "opencl_c", toolchain, most_ways)
        try:
            code = codes.coarsen(kernel.kernel, variant)
        except RefusalError as refusal:
            texts.append(Reading(failure=str(refusal)))
        else:
            texts.append(ProgramText(kernel.kernel, str(code.text), code.options, launched_size(variant)))
    return texts


def launched_size(variant: Variant) -> LocalSize:
    """Return the local size that a variant is launched with; empty where the variant leaves it open."""
    size = list(variant.local_size)
    for coarsening in variant.coarsenings:
        if coarsening.level is Level.ITEM and coarsening.dimension < len(size):
            size[coarsening.dimension] = max(1, size[coarsening.dimension] // coarsening.factor)
    return tuple(size)
