"""One entry of the cache: a coarsened kernel, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.errors import InternalError, RefusalError, SourcePosition
from coarsen.ir.added_arguments import AddedArgument
from coarsen.runtime.text_cache.checked_file import entry_of, file_of
from coarsen.runtime.toolchain import CoarsenedKernel
from coarsen.variant.placement import PlacedArgument

# These may be due to the moment: the depth of the caller's stack, a process that was stopped or took too long.
PASSING = frozenset({"too-deep", "spirv-unsupported"})


@dataclass(frozen=True, slots=True)
class StoredKernel:
    """A coarsened kernel in one form, as `toolchain.CoarsenedKernel` has it in all."""

    text: str | None
    code: bytes | None
    standard: str
    added_arguments: tuple[AddedArgument, ...]
    needs_whole_groups: bool
    groups_matter: bool
    objects_below: int | None
    ways_by_barriers: int
    apart: tuple[tuple[int, int], ...] = ()
    placed_arguments: tuple[PlacedArgument, ...] = ()

    @property
    def opencl_c(self) -> str:
        """The kernel as OpenCL C text."""
        if self.text is None:
            raise InternalError("a kernel that was cached as SPIR-V was asked for as OpenCL C; please report it")
        return self.text

    @property
    def opencl_c_standard(self) -> str:
        """The build option that the text needs."""
        return self.standard

    @property
    def spirv(self) -> bytes:
        """The kernel as a SPIR-V module."""
        if self.code is None:
            raise InternalError("a kernel that was cached as OpenCL C was asked for as SPIR-V; please report it")
        return self.code

    @property
    def spirv_standard(self) -> str:
        """The standard that a driver may want named when it builds the module."""
        return self.standard


@dataclass(frozen=True, slots=True)
class StoredRefusal:
    """Why a kernel is refused, as `RefusalError` has it."""

    code: str
    reason: str
    position: SourcePosition | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel, or a refusal."""

    key: str
    kernel: StoredKernel | None = None
    refusal: StoredRefusal | None = None

    def outcome(self) -> StoredKernel:
        """Return the kernel. Raises RefusalError where it is refused."""
        if self.refusal is not None:
            raise RefusalError(self.refusal.code, self.refusal.reason, self.refusal.position)
        if self.kernel is None:
            raise InternalError("an entry of the cache holds nothing; please report it")
        return self.kernel


def stored_kernel(kernel: CoarsenedKernel, form: str) -> StoredKernel:
    """Return a kernel in one form. Raises RefusalError where it has no such form."""
    facts = (
        *(kernel.added_arguments, kernel.needs_whole_groups, kernel.groups_matter),
        *(kernel.objects_below, kernel.ways_by_barriers, kernel.apart, kernel.placed_arguments),
    )
    if form == "spirv":
        return StoredKernel(None, kernel.spirv, kernel.spirv_standard, *facts)
    return StoredKernel(kernel.opencl_c, None, kernel.opencl_c_standard, *facts)


def entry_file(entry: Entry) -> bytes:
    """Return what is written to an entry's file."""
    return file_of(entry)


def read_entry(file: bytes, key: str, form: str) -> Entry | None:
    """Return the entry of a file; None where it is not whole, or not of this key and form.

    Args:
        file: what is in it.
        key: the entry's.
        form: "opencl_c" or "spirv".
    """
    entry = entry_of(file, Entry)
    if entry is None:
        return None
    return entry if entry.key == key and _is_complete(entry, form) else None


def _is_complete(entry: Entry, form: str) -> bool:
    if entry.kernel is None:
        return entry.refusal is not None
    is_there = (entry.kernel.text is not None, entry.kernel.code is not None)
    return entry.refusal is None and is_there == (form == "opencl_c", form == "spirv")
