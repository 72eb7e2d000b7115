"""One entry of the cache, a coarsened kernel or the reason why there is none, and its form in a file.

A file is a line with the SHA-256 of the rest, and the rest is JSON with the entry's key in it: one that was cut
off, changed or renamed is none.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass

from coarsen.codec import decoded, encoded
from coarsen.errors import InternalError, InvalidInputError, RefusalError, SourcePosition
from coarsen.ir.kernel import AddedArgument
from coarsen.runtime.toolchain import CoarsenedKernel


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
        *(kernel.objects_below, kernel.ways_by_barriers),
    )
    if form == "spirv":
        return StoredKernel(None, kernel.spirv, kernel.spirv_standard, *facts)
    return StoredKernel(kernel.opencl_c, None, kernel.opencl_c_standard, *facts)


def entry_file(entry: Entry) -> bytes:
    """Return what is written to an entry's file."""
    content = json.dumps(encoded(entry, {bytes: _base64})).encode()
    return b"%s\n%s" % (_checksum(content), content)


def read_entry(file: bytes, key: str, form: str) -> Entry | None:
    """Return the entry of a file; None where it is not whole, or not of this key and form.

    Args:
        file: what is in it.
        key: the entry's.
        form: "opencl_c" or "spirv".
    """
    checksum, _, content = file.partition(b"\n")
    if checksum != _checksum(content):
        return None
    try:
        entry = decoded(Entry, json.loads(content), "the entry", {bytes: _from_base64})
    except (ValueError, RecursionError, InvalidInputError):
        return None
    return entry if entry.key == key and _is_complete(entry, form) else None


def _is_complete(entry: Entry, form: str) -> bool:
    if entry.kernel is None:
        return entry.refusal is not None
    is_there = (entry.kernel.text is not None, entry.kernel.code is not None)
    return entry.refusal is None and is_there == (form == "opencl_c", form == "spirv")


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _from_base64(text: object) -> bytes:
    try:
        return base64.b64decode(str(text), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInputError("it is not written in base 64") from None
