"""Features of what only buffers hold: the caller supplies them, and a workload computes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.dispatch.features import Feature
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads import measured
from coarsen.opencl_bench.workloads.benchmark import Array

KEY = "features"
FUNCTIONS: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        name: function
        for name, function in inspect.getmembers(measured, inspect.isfunction)
        if function.__module__ == measured.__name__
    }
)


@dataclass(frozen=True, slots=True)
class LaunchFeature:
    """A feature, and where the caller supplies it, how it is computed of a workload's buffers.

    Args:
        feature: as a tuned file has it.
        function: the name of a function of `contents.measured`; empty where nothing says it.
        buffers: what that is given.
    """

    feature: Feature
    function: str = ""
    buffers: tuple[str, ...] = ()

    def supplied(self, buffers: Mapping[str, Array]) -> float:
        """Return the number that a caller would supply with these buffers, by name.

        Raises:
            InvalidInputError: nothing says how it is computed.
        """
        if not self.function:
            name = self.feature.name
            raise InvalidInputError(
                f"the feature {name} is supplied by the caller, and nothing says how to compute it here: "
                f'{KEY}.{name} = {{ supplied = "FUNCTION(BUFFER)" }}; there are {", ".join(FUNCTIONS)}'
            )
        return FUNCTIONS[self.function](*(buffers[name] for name in self.buffers))
