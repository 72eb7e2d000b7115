"""Streams: computations that are said as a whole, of which the kernels are written.

    from coarsen.stream import Reduce
    dot = Reduce("a + b", identity="0", map="x[i] * y[i]", arguments="const float *x, const float *y")
    total = dot(queue, x, y)

Names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coarsen.base.names import lazy_names

if TYPE_CHECKING:
    from coarsen.stream.reduce import Reduce as Reduce

_MODULE_OF = {
    "Reduce": "coarsen.stream.reduce",
}
__all__ = [*_MODULE_OF]

__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF)
