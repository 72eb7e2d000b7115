"""What would make the accesses of a kernel touch fewer sectors, or cache lines, and what it would have to be.

Each offer is an option of `coarsen apply` with the pieces that a sub-group touches
before and after, summed over the accesses that it changes. An access whose lanes are no known number of bytes
apart counts as one that touches pieces of its own for each lane: at most so many.

    --layout ARG=soa            all uses are fields of records: a field's values side by side
    --order ARG=1,0             neighbours are a row apart: the array transposed
    --stride N                  merged work-items stand between neighbours: take them a sub-group apart
    --place ARG=constant        all work-items read the same: one broadcast, and no sector
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.symbols import queried
from coarsen.cost.access_costs import AccessCost, AccessCosts, pieces_of
from coarsen.cost.lane_addresses import LaneAddresses, Place
from coarsen.ir.graph.instruction import Instruction, source_element_type
from coarsen.ir.opencl.queries import Query
from coarsen.ir.types import AddressSpace, PointerType, StructType, size_of
from coarsen.variant.coarsening import Coarsening, Level

_ALL = (0, 1, 2)
_IDS = frozenset({Query.GLOBAL_ID, Query.LOCAL_ID, Query.GROUP_ID})


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that would mend accesses.

    Attributes:
        option: of `coarsen apply`.
        argument: whose accesses it changes; None for all.
        condition: what has to hold, in words.
        before: pieces that a sub-group touches with one execution of each access, at most.
        after: with the option, at most.
    """

    option: str
    argument: str | None
    condition: str
    before: int
    after: int


class Mending:
    """Looks for offers.

    Args:
        costs: of the kernel's accesses.
        coarsenings: that the kernel is merged by.
        local_size: of the coarsened launch; None where it isn't known.
    """

    def __init__(
        self, costs: AccessCosts, coarsenings: Sequence[Coarsening], local_size: Place | None = None
    ) -> None:
        self._costs, self._coarsenings, self._local_size = costs, tuple(coarsenings), local_size
        self._device, self._forms = costs.device, costs.forms
        self._lanes = costs.lanes(coarsenings, local_size)
        self.accesses = costs.at(coarsenings, local_size)

    def offers(self) -> tuple[Offer, ...]:
        """Return the offers that lower the number of pieces: of each buffer, and in all, the best first."""
        found: list[Offer] = []
        for buffer in buffers(self._forms, self.accesses):
            own = [offer for offer in self._of_buffer(buffer) if offer.after < offer.before]
            found.extend(sorted(own, key=lambda offer: offer.after))
        strided = self._strided()
        if strided is not None and strided.after < strided.before:
            found.append(strided)
        return tuple(found)

    def _of_buffer(self, buffer: Buffer) -> Iterator[Offer]:
        before = sum(map(self._most, buffer.accesses))
        for found in (self._apart(buffer), self._transposed(buffer), self._broadcast(buffer)):
            if found is not None:
                option, condition, after = found
                yield Offer(option, buffer.name, condition, before, after)

    def _most(self, cost: AccessCost) -> int:
        if cost.pieces is not None:
            return cost.pieces.most
        return len(self._lanes.places) * math.ceil(cost.access.access_bytes / self._device.piece_bytes)

    def _counted(self, places: Sequence[int], cost: AccessCost) -> int:
        """Pieces of lanes at places, in a variable in which nobody knows where they begin."""
        element = cost.access.element_bytes
        addresses = LaneAddresses(tuple(places), cost.access.access_bytes, True)
        return pieces_of(addresses, cost.access.access_bytes, element, self._device.piece_bytes).most

    # Layouts.

    def _apart(self, buffer: Buffer) -> tuple[str, str, int] | None:
        """Return each field's values side by side."""
        record, after = buffer.record_bytes, 0
        if record is None:
            return None
        for cost in buffer.accesses:
            if cost.addresses is None or any(offset % record for offset in cost.addresses.offsets):
                return None
            places = [offset // record * cost.access.access_bytes for offset in cost.addresses.offsets]
            after += self._counted(places, cost)
        condition = f"all uses are fields of records of {record} bytes"
        return f"--layout {buffer.name}=soa", condition, after

    # Orders.

    def _transposed(self, buffer: Buffer) -> tuple[str, str, int] | None:
        """Return rows and columns exchanged: what was a row apart is side by side, and the other way round."""
        size = buffer.element_bytes
        row = next(filter(None, (self._row(each, size) for each in buffer.accesses)), None)
        if size is None or row is None or buffer.record_bytes is not None:
            return None
        after = 0
        for cost in buffer.accesses:
            columns: defaultdict[int, list[int]] = defaultdict(list)
            for place in self._lanes.places:
                split = _rows_and_rest(self._lanes.gain(cost.form, place), row, size)
                if split is None:
                    return None
                columns[split[1]].append(size * split[0])
            after += sum(self._counted(column, cost) for column in columns.values())
        length = row.divided(Polynomial.constant(size)) or row
        return f"--order {buffer.name}=1,0", f"rows of {length} elements, and whole ones only", after

    def _row(self, cost: AccessCost, size: int | None) -> Polynomial | None:
        """Return the bytes of a row that neighbours are apart: a size that is the same for all."""
        gain = self._forms.symbols.difference(cost.access.form, 0)
        if gain is None or size is None or len(gain.terms) != 1:
            return None
        [(product, coefficient)] = gain.terms.items()
        arguments = {argument.name for argument in self._forms.kernel.arguments}
        if product:
            return (
                Polynomial({product: size}) if arguments.issuperset(product) and coefficient % size == 0 else None
            )
        is_row = coefficient > self._device.piece_bytes and coefficient % size == 0
        return gain if is_row and self._has_unit_step(cost, size) else None

    def _has_unit_step(self, cost: AccessCost, size: int) -> bool:
        """Return True if a loop or another dimension moves an access along its row."""
        footprint = next(each for each in self._costs.footprints if each.access is cost.access)
        steps = [getattr(each, "value", None) for each in footprint.iteration_strides.values()]
        return size in steps or size in cost.access.strides[1:]

    # Coarsening.

    def _strided(self) -> Offer | None:
        """Return the merged work-items a sub-group apart, so that neighbours stay neighbours."""
        lanes = self._device.lanes
        wanted = tuple(
            replace(each, stride=lanes)
            if each.level is Level.ITEM and each.dimension == 0 and each.factor > 1 and each.stride < lanes
            else each
            for each in self._coarsenings
        )
        size = self._local_size
        if wanted == self._coarsenings or len(wanted) != 1 or (size is not None and size[0] % wanted[0].stride):
            return None
        # An unknown local size stays so: its lanes stand along dimension 0.
        others = self._costs.at(wanted, self._local_size)
        pairs = [pair for pair in zip(self.accesses, others, strict=True) if not pair[0].is_local]
        before, after = (sum(self._most(pair[side]) for pair in pairs) for side in (0, 1))
        condition = f"the local size along 0 is a multiple of {lanes * wanted[0].factor} before coarsening"
        return Offer(f"--stride {lanes}", None, condition, before, after)

    # Placement.

    def _broadcast(self, buffer: Buffer) -> tuple[str, str, int] | None:
        """Return the constant memory: for what no id has a part in."""
        if not buffer.may_be_constant or any(each.shared_along != _ALL for each in buffer.accesses):
            return None
        origins = (self._forms.symbols.origins(each.form) for each in buffer.accesses)
        if any(self._is_own(symbol) for found in origins for symbol in found):
            return None
        condition = "no more than CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE bytes, which no other argument writes"
        return f"--place {buffer.name}=constant", condition, 0

    def _is_own(self, symbol: str) -> bool:
        """Return True if a symbol is an id, or a value that the forms don't know."""
        query = queried(symbol)
        is_id = query is not None and query[0] in _IDS
        return is_id or (symbol.startswith("%") and self._forms.symbols.piece(symbol) is None)


def _rows_and_rest(gain: Polynomial | None, row: Polynomial, size: int) -> tuple[int, int] | None:
    """Return a distance as rows, and elements of `size` bytes along the row; None for any other."""
    [(product, coefficient)] = row.terms.items()
    if gain is None or not gain.terms.keys() <= {product, ()}:
        return None
    rest = gain.constant_part
    if not product:
        rows = round(rest / coefficient)
        return rows, (rest - rows * coefficient) // size
    along = gain.terms.get(product, 0)
    return None if along % coefficient or rest % size else (along // coefficient, rest // size)


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer that is passed to a kernel, of which all uses that reach memory are known.

    Attributes:
        name: of the argument.
        accesses: all that go to it.
        may_be_constant: whether nothing is stored through this argument, and it isn't in constant memory already.
        record_bytes: from one record to the next where all accesses are to fields of such; None where not.
    """

    name: str
    accesses: tuple[AccessCost, ...]
    may_be_constant: bool
    record_bytes: int | None

    @property
    def element_bytes(self) -> int | None:
        """The bytes of each access; None where they differ."""
        sizes = {each.access.access_bytes for each in self.accesses}
        return sizes.pop() if len(sizes) == 1 else None


def buffers(forms: IndexForms, costs: Sequence[AccessCost]) -> Iterator[Buffer]:
    """Yield the buffers of a kernel that it accesses, in the order of its arguments."""
    escaping = frozenset(_escaping(forms, costs))
    for argument in forms.kernel.function.arguments:
        own = tuple(each for each in costs if each.access.base is argument)
        if not own or own[0].is_local or argument.name in escaping:
            continue
        is_constant = argument.type == PointerType(AddressSpace.CONSTANT)
        records = {_record_bytes(each) for each in own}
        yield Buffer(
            argument.name,
            own,
            not is_constant and not any(each.access.is_store for each in own),
            records.pop() if len(records) == 1 else None,
        )


def _escaping(forms: IndexForms, costs: Sequence[AccessCost]) -> Iterator[str]:
    """Yield the arguments that are used in other ways too: passed on, stored, accessed where it can't be told."""
    for cost in costs:
        if cost.access.base is None:
            yield from forms.symbols.origins(cost.form)
    accessed = {each.access.instruction: each.access.pointer for each in costs}
    for instruction in forms.kernel.instructions():
        if instruction.opcode in ("getelementptr", "icmp"):
            continue
        for value in instruction.arguments:
            if isinstance(value.type, PointerType) and value != accessed.get(instruction):
                yield from forms.symbols.origins(forms.form(value))


def _record_bytes(cost: AccessCost) -> int | None:
    """Return the size of the record whose field an access is to."""
    pointer = cost.access.pointer
    while isinstance(pointer, Instruction) and pointer.opcode == "getelementptr":
        type_ = source_element_type(pointer)
        if isinstance(type_, StructType):
            return size_of(type_)
        pointer = pointer.operands[0]
    return None
