"""The loops of synthetic kernels."""

from __future__ import annotations

import re

from coarsen.opencl_bench.workloads.synthetic.arithmetic import zero
from coarsen.opencl_bench.workloads.synthetic.axes import Loop
from coarsen.opencl_bench.workloads.synthetic.specification import Specification
from coarsen.opencl_bench.workloads.synthetic.text import block


def total(specification: Specification) -> str:
    """The declaration of a total that a loop adds to."""
    return f"{specification.compute_type} result = {zero(specification)};"


def looped(specification: Specification, body: list[str]) -> list[str]:
    """The loop over the trips with the declaration of its total; the body alone where there is no loop.

    The loops over elements are not made here: their bodies hold guards or stores.
    """
    if specification.axes.loop is Loop.NONE:
        return body
    return [total(specification), *trip_loop(specification, body)]


def trip_loop(specification: Specification, body: list[str]) -> list[str]:
    """The loop over the trips with its body, the total declared before."""
    loop, trips = specification.axes.loop, specification.trips
    if loop is Loop.NESTED:
        inner_trips = specification.inner_trips
        if re.search(r"\btrip\b", "\n".join(body)):
            body = [f"uint trip = outer * {inner_trips} + inner;", *body]
        inner = block(f"for (uint inner = 0; inner < {inner_trips}; ++inner)", body)
        return [f"for (uint outer = 0; outer < {trips}; ++outer) {{", *("    " + line for line in inner), "}"]
    if loop is Loop.DIVERGENT_DATA:
        return ["uint own_trips = lengths[position];", *_counted("own_trips", body)]
    if loop is Loop.DIVERGENT_ID:
        number = "position" if specification.axes.dimensions == 1 else "(x + y)"
        return [f"uint own_trips = 1 + {number} % {trips};", *_counted("own_trips", body)]
    return _counted("trips" if loop is Loop.ARGUMENT else str(trips), body)


def local_stride_loop(body: list[str]) -> list[str]:
    """The loop over a work-group's row, whose items take turns."""
    head = "for (uint column = lane; column < length; column += get_local_size(0))"
    return block(head, ["uint position = group * length + column;", *body])


def grid_stride_loop(body: list[str]) -> list[str]:
    """The loop over all elements, whose items take turns."""
    return block("for (uint position = get_global_id(0); position < count; position += get_global_size(0))", body)


def _counted(trips: str, body: list[str]) -> list[str]:
    return block(f"for (uint trip = 0; trip < {trips}; ++trip)", body)
