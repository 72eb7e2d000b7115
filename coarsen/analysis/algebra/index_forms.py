"""Index arithmetic as polynomials over work-item ids, loop iterations and uniform values.

    int x = get_global_id(0);            global_id(0)
    for (int i = 0; i < n; i += 2)       2·iteration(for.cond)
        sum += data[x + i * width];      data + 4·global_id(0) + 8·iteration(for.cond)·width

A pointer's polynomial has where its variable starts as a symbol. What is not a sum of products becomes a symbol of
its own (`predict/symbols.py`): quotients and remainders, choices between values, what takes a value out of a loop.

Arithmetic is taken as exact: extensions and truncations change nothing and no operation wraps. This holds for the
indices of a correct kernel almost always, but it is no proof: use it to predict, never to decide what is legal.
"""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.analysis.algebra.predict.prediction import Prediction
from coarsen.analysis.algebra.rules import PREDICT
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.divergence import Divergence
from coarsen.ir.kernel import Kernel


class IndexForms(Prediction):
    """The polynomials of a kernel's integers and pointers, each found when first asked for."""

    def __init__(
        self, kernel: Kernel, control_flow: ControlFlow, divergence: Mapping[int, Divergence] | None = None
    ) -> None:
        super().__init__(kernel, control_flow, PREDICT, divergence)
