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
    from coarsen.stream.actor import Actor as Actor
    from coarsen.stream.actor import Map as Map
    from coarsen.stream.actor import SplitJoin as SplitJoin
    from coarsen.stream.actor import Stencil as Stencil
    from coarsen.stream.graph import Channel as Channel
    from coarsen.stream.graph import buffers as buffers
    from coarsen.stream.graph import repetitions as repetitions
    from coarsen.stream.interpreter import interpret as interpret
    from coarsen.stream.reduce import Reduce as Reduce
    from coarsen.stream.stream import Stream as Stream
    from coarsen.stream.stream import pipeline as pipeline

_MODULE_OF = {
    "Actor": "coarsen.stream.actor",
    "Channel": "coarsen.stream.graph",
    "Map": "coarsen.stream.actor",
    "Reduce": "coarsen.stream.reduce",
    "SplitJoin": "coarsen.stream.actor",
    "Stencil": "coarsen.stream.actor",
    "Stream": "coarsen.stream.stream",
    "buffers": "coarsen.stream.graph",
    "interpret": "coarsen.stream.interpreter",
    "pipeline": "coarsen.stream.stream",
    "repetitions": "coarsen.stream.graph",
}
__all__ = [*_MODULE_OF]

__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF)
