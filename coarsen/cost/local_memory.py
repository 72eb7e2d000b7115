"""The local memory that a kernel declares."""

from __future__ import annotations

from coarsen.ir.kernel import Kernel
from coarsen.ir.layout import size_of
from coarsen.ir.types import AddressSpace


def static_local_bytes(kernel: Kernel) -> int:
    """Return the bytes of local memory that a kernel declares for each work-group; arguments are left out."""
    local = (each for each in kernel.globals.values() if each.address_space == AddressSpace.LOCAL)
    return sum(size_of(variable.value_type) for variable in local)
