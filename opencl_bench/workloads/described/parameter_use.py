"""Checks of what may depend on parameters: not the outputs, in which all versions must agree."""

from __future__ import annotations

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
)
from coarsen.opencl_bench.workloads.described.image_arguments import ImageDescription


def check_parameter_use(description: Description) -> None:
    """Check that outputs are alike for all values of parameters.

    Raises:
        InvalidInputError: the extent of an output names a parameter or the local size.
    """
    if not description.parameters.parameters:
        return
    varying = {*description.tunables, *(f"local_size_{dimension}" for dimension in range(3))}
    for index, argument in enumerate(description.arguments):
        names = sorted(_extent_names(argument) & varying) if argument.name in description.outputs else []
        if names:
            raise InvalidInputError(
                f"{description.place_of(index)}: the extent of an output depends on {names[0]}, so that the "
                "results of two versions could not be compared; make it scratch = true, and let another of "
                "[[launches]] finish it"
            )


def _extent_names(argument: ArgumentDescription) -> frozenset[str]:
    if isinstance(argument, BufferDescription):
        return argument.elements.names
    return argument.names if isinstance(argument, ImageDescription) else frozenset()
