"""The extents of arrays that lie otherwise: numbers where their shapes are known, else arguments of the kernel.

kernel void k(global Body *bodies)   →   kernel void k(global Body *bodies, ulong bodies_count)      bodies=soa
kernel void k(global float *image)   →   kernel void k(global float *image, ulong image_extent_0,
                                                       ulong image_extent_1)                         image=1,0
"""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.graph.builder import number
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Argument, Kernel
from coarsen.transform.added_arguments import add_arguments, extent_argument
from coarsen.transform.index_type import INDEX
from coarsen.transform.names import NameSupply
from coarsen.variant.data_layout import Arrangement


class Extents:
    """Gives the extents of arrays, and adds those that are not known to a kernel's arguments.

    Args:
        kernel: as it was.
        module: owned by the caller; the kernel in it gets the arguments.

    Attributes:
        added: what a launch passes for the arguments that were added, in their order.
    """

    def __init__(self, kernel: Kernel, module: Module) -> None:
        self._kernel = kernel
        self._module = module
        self._names = NameSupply(kernel)
        self.added: tuple[AddedArgument, ...] = ()

    def of(self, argument: Argument, arrangement: Arrangement) -> tuple[Operand, ...]:
        """Return an array's extents, the slowest first; none where no address depends on them.

        Args:
            argument: one of the kernel's.
            arrangement: of the array that it points to.
        """
        if not arrangement.needs_shape:
            return ()
        if arrangement.shape is not None:
            return tuple(number(INDEX, extent) for extent in arrangement.shape)
        count = len(arrangement.order.permutation) if arrangement.order else 1
        dimensions: Sequence[int | None] = range(count) if count > 1 else (None,)
        added = [extent_argument(argument.name, dimension, self._names) for dimension in dimensions]
        index = self._kernel.arguments.index(argument)
        self.added += tuple(AddedArgument("extent", dimension, index) for dimension in range(count))
        return tuple(add_arguments(self._module, self._module.function(self._kernel.name), added))
