"""The arguments of a kernel on disk, beside coarsened text: to check a tuned file, nothing is compiled twice.

source, options, device's macros, code ──▶ key ──▶ names and kinds of the kernel's arguments
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.types import AddressSpace, FloatType, IntegerType, PointerType
from coarsen.runtime.text_cache.key import kept
from coarsen.runtime.text_cache.store import CacheFolder, store_of


@dataclass(frozen=True, slots=True)
class _Signature:
    """The arguments of a kernel as a file of the cache has them."""

    arguments: tuple[KernelArgument, ...]


def kernel_signature(
    source: str, kernel: str, options: Sequence[str], macros: DeviceMacros, cache_dir: CacheFolder = None
) -> tuple[KernelArgument, ...]:
    """Return the arguments of a kernel: from the cache, or compiled.

    Args:
        source: OpenCL C.
        kernel: its name.
        options: build options, one by one.
        macros: what the source may find out about its device.
        cache_dir: as `pyopencl.Program.build` takes it.

    Raises:
        InvalidInputError: it does not compile.
        RefusalError: it can't be read.
    """

    def compiled() -> _Signature:
        # Imported late: it loads LLVM.
        from coarsen.frontend.lower import lower

        return _Signature(signature_of(lower(source, kernel, tuple(options), macros)))

    found = kept(store_of(cache_dir), _Signature, source, options, macros, {"signature": kernel}, compiled)
    return found.arguments


def signature_of(kernel: Kernel) -> tuple[KernelArgument, ...]:
    """Return the arguments of a kernel, as tuned files have them."""
    return tuple(KernelArgument(each.name, kind_of(each)) for each in kernel.arguments)


def kind_of(argument: Argument) -> ArgumentKind:
    """Return the kind of a kernel's argument, as tuned files have it."""
    if isinstance(argument.type, PointerType):
        space = argument.type.address_space
        if space == AddressSpace.PRIVATE:
            return ArgumentKind.OTHER  # a structure by value
        return ArgumentKind.LOCAL if space == AddressSpace.LOCAL else ArgumentKind.BUFFER
    if isinstance(argument.type, IntegerType):
        return ArgumentKind.WHOLE
    return ArgumentKind.REAL if isinstance(argument.type, FloatType) else ArgumentKind.OTHER
