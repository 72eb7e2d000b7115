"""What padding, or an exclusive or, would do for the arrays of rows that a kernel declares in local memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.cost.banks.degree import Banks
from coarsen.cost.banks.padding import Padding, Reference, Swizzle, best_padding, best_swizzle
from coarsen.cost.locality.access_costs import AccessCost
from coarsen.ir.kernel import GlobalVariable, Kernel
from coarsen.ir.layout import size_of
from coarsen.ir.types import AddressSpace, ArrayType


@dataclass(frozen=True, slots=True)
class LocalArray:
    """An array of rows in local memory whose references conflict, and what keeps them apart.

    Attributes:
        name: of the variable.
        row_elements: of a row.
        padding: of least cost.
        swizzle: in its place; None where none can be had.
        element_bytes: of an element.
    """

    name: str
    row_elements: int
    element_bytes: int
    padding: Padding
    swizzle: Swizzle | None


def local_arrays(kernel: Kernel, costs: Sequence[AccessCost], banks: Banks | None) -> tuple[LocalArray, ...]:
    """Return the arrays for which a pad or an exclusive or lowers the sum of degrees, by name.

    Args:
        kernel: that declares them.
        costs: of its accesses.
        banks: of the device; None where it has none: then nothing is gained.
    """
    return tuple(_arrays(kernel, costs, banks)) if banks is not None else ()


def _arrays(kernel: Kernel, costs: Sequence[AccessCost], banks: Banks) -> Iterator[LocalArray]:
    for variable in kernel.globals.values():
        row = _row(variable)
        own = [each for each in costs if each.name == variable.name]
        if row is None or not own or any(each.addresses is None for each in own):
            continue
        row_bytes, element = size_of(row), size_of(row.element)
        references = [_reference(each, row_bytes) for each in own]
        padding = best_padding(references, row_bytes, element, banks)
        swizzle = best_swizzle(references, row_bytes, element, banks)
        if padding is None:
            continue
        useful = swizzle if swizzle is not None and swizzle.cost < padding.unpadded_cost else None
        if padding.words or useful is not None:
            yield LocalArray(variable.name, row.count, element, padding, useful)


def _row(variable: GlobalVariable) -> ArrayType | None:
    type_ = variable.value_type
    if variable.address_space != AddressSpace.LOCAL or not isinstance(type_, ArrayType):
        return None
    return type_.element if isinstance(type_.element, ArrayType) else None


def _reference(cost: AccessCost, row_bytes: int) -> Reference:
    """An access by rows; what nobody knows moves all lanes alike, and so from bank to bank alike."""
    places = cost.addresses.places if cost.addresses is not None else ()
    split = [divmod(place, row_bytes) for place in places]
    return Reference(tuple(split), cost.access.access_bytes)
