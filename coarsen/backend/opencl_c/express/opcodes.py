"""The table of all opcodes whose result is a C expression."""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.backend.opencl_c.express.addresses import ADDRESSES
from coarsen.backend.opencl_c.express.aggregates import AGGREGATES
from coarsen.backend.opencl_c.express.arithmetic import ARITHMETIC
from coarsen.backend.opencl_c.express.bits import BITS
from coarsen.backend.opencl_c.express.calls import CALLS
from coarsen.backend.opencl_c.express.comparisons import COMPARISONS
from coarsen.backend.opencl_c.express.conversions import CONVERSIONS
from coarsen.backend.opencl_c.express.memory import MEMORY
from coarsen.backend.opencl_c.express.translator import Handler
from coarsen.backend.opencl_c.express.vectors import VECTORS

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
