"""The table of all opcodes whose result is a C expression."""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.backend.opencl_c.addresses import ADDRESSES
from coarsen.backend.opencl_c.aggregates import AGGREGATES
from coarsen.backend.opencl_c.arithmetic import ARITHMETIC
from coarsen.backend.opencl_c.bits import BITS
from coarsen.backend.opencl_c.calls import CALLS
from coarsen.backend.opencl_c.comparisons import COMPARISONS
from coarsen.backend.opencl_c.conversions import CONVERSIONS
from coarsen.backend.opencl_c.memory import MEMORY
from coarsen.backend.opencl_c.translator import Handler
from coarsen.backend.opencl_c.vectors import VECTORS

HANDLERS: Mapping[str, Handler] = {
    **ARITHMETIC,
    **BITS,
    **COMPARISONS,
    **CONVERSIONS,
    **ADDRESSES,
    **MEMORY,
    **VECTORS,
    **AGGREGATES,
    **CALLS,
}
