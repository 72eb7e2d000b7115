"""What padding, or an exclusive or, would do for the arrays of rows that a kernel declares in local memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.cost.banks.degree import Banks
from coarsen.cost.banks.padding import Padding, Reference, Swizzle, best_padding, best_swizzle
from coarsen.cost.locality.access_costs import AccessCost
from coarsen.ir.graph.details import Access
from coarsen.ir.graph.variables import GlobalVariable
from coarsen.ir.kernel import Kernel
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
        word_bytes: of a bank's word.
    """

    name: str
    row_elements: int
    element_bytes: int
    padding: Padding
    swizzle: Swizzle | None
    word_bytes: int

    @property
    def pad_elements(self) -> int:
        """The padding in elements."""
        return self.padding.words * self.word_bytes // self.element_bytes


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
        found = row_references(variable, row, costs) if row is not None else None
        if row is None or not found:
            continue
        element = size_of(row.element)
        padding = best_padding(found, size_of(row), aligned_bytes(variable, element, costs), banks)
        swizzle = best_swizzle(found, size_of(row), element, banks)
        if padding is None:
            continue
        useful = swizzle if swizzle is not None and swizzle.cost < padding.unpadded_cost else None
        if padding.words or useful is not None:
            yield LocalArray(variable.name, row.count, element, padding, useful, banks.word_bytes)


def _row(variable: GlobalVariable) -> ArrayType | None:
    """Return the innermost rows of an array of rows."""
    type_ = variable.value_type
    if variable.address_space != AddressSpace.LOCAL or not isinstance(type_, ArrayType):
        return None
    row = type_.element
    while isinstance(row, ArrayType) and isinstance(row.element, ArrayType):
        row = row.element
    return row if isinstance(row, ArrayType) else None


def row_references(
    variable: GlobalVariable, row: ArrayType, costs: Sequence[AccessCost]
) -> list[Reference] | None:
    """Return all accesses to an array by its rows; None where it isn't known where one goes."""
    own = [each for each in costs if each.name == variable.name]
    if any(each.addresses is None for each in own):
        return None
    return [_reference(each, size_of(row)) for each in own]


def aligned_bytes(variable: GlobalVariable, element_bytes: int, costs: Sequence[AccessCost]) -> int:
    """Return what a pad must be a multiple of: an element, or what an access to several is aligned to."""
    details = (each.access.instruction.detail for each in costs if each.name == variable.name)
    accesses = (detail for detail in details if isinstance(detail, Access))
    return max([element_bytes, *(access.alignment for access in accesses)])


def _reference(cost: AccessCost, row_bytes: int) -> Reference:
    """Return an access by rows; what nobody knows moves all lanes alike, and so from bank to bank alike."""
    places = cost.addresses.places if cost.addresses is not None else ()
    split = [divmod(place, row_bytes) for place in places]
    return Reference(tuple(split), cost.access.access_bytes)
