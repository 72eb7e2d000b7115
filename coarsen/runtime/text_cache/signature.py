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
from coarsen.runtime.text_cache.key import Key, digest_of, is_certain
from coarsen.runtime.text_cache.store import CacheFolder, Store, entry_of, file_of, text_folder
from coarsen.runtime.text_cache.versions import versions


@dataclass(frozen=True, slots=True)
class SignatureEntry:
    """Arguments as a file of the cache has them."""

    key: str
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
    folder = text_folder(cache_dir)
    key = None if folder is None else _key_of(source, kernel, options, macros)
    if folder is None or key is None:
        return _compiled(source, kernel, options, macros)
    store = Store(folder)
    file = store.read(key.digest)
    entry = None if file is None else entry_of(file, SignatureEntry)
    if entry is not None and entry.key == key.digest:
        return entry.arguments
    found = _compiled(source, kernel, options, macros)
    # A header may have been changed meanwhile.
    if is_certain(key, source, options, macros) and _key_of(source, kernel, options, macros) == key:
        store.write(key.digest, file_of(SignatureEntry(key.digest, found)))
    return found


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


def _key_of(source: str, kernel: str, options: Sequence[str], macros: DeviceMacros) -> Key | None:
    code = versions()
    if code is None:
        return None
    return digest_of(source, options, macros, {"signature": kernel, "versions": code})


def _compiled(
    source: str, kernel: str, options: Sequence[str], macros: DeviceMacros
) -> tuple[KernelArgument, ...]:
    # Imported late: it loads LLVM.
    from coarsen.frontend.lower import lower

    return signature_of(lower(source, kernel, tuple(options), macros))
