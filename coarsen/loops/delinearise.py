"""Rows and columns of flat indices: `a[i*n + j]` is row i, column j of rows of n, if isl proves `0 <= j < n`.

The factors of iterators are the strides: of `(i*ny + j)*nz + k` they are `ny*nz`, `nz` and 1. The index is divided
by one after the other. What has no iterator may go to either side: `(i + 1)*n - 1 - j` is row i, column n - 1 - j.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import islpy as isl

from coarsen.analysis.algebra.polynomial import ONE, ZERO, Polynomial
from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops.forms import affine, not_affine, polynomial
from coarsen.loops.nest import affine_text
from coarsen.loops.tree import Expression, Name, Operation

Form = tuple[Polynomial, ...]


@dataclass(frozen=True)
class RawAccess:
    """Indices of an access, the iterators of the loops around it, and constraints on them in isl's notation."""

    indices: tuple[Expression, ...]
    iterators: tuple[str, ...]
    conditions: tuple[str, ...]
    place: SourcePosition


@dataclass(frozen=True)
class Located:
    """The accesses of an array: the subscripts of each, the extents, what is assumed of parameters."""

    subscripts: tuple[Form, ...]
    extents: tuple[Polynomial | None, ...]
    is_split: bool = False
    assumed: tuple[str, ...] = ()


def located(
    spelled: str, accesses: Sequence[RawAccess], extents: Sequence[Polynomial | None], parameters: Sequence[str]
) -> Located:
    """Return the subscripts of all accesses of an array, a flat one's indices split into rows and columns.

    Args:
        spelled: the array, as the source calls it.
        accesses: its accesses, with as many indices each as it has extents.
        extents: of its type, the outermost first; None for one that is not said.
        parameters: the names of whole numbers that stay the same.

    Raises:
        RefusalError: `not-affine`; `index-leaves-row` for a column that may be beside its row.
    """
    what = f"the index of '{spelled}'"
    outer = [tuple(affine(index, what) for index in access.indices[:-1]) for access in accesses]
    if not extents:
        return Located(tuple(() for _ in accesses), ())
    if len(extents) > 1 and extents[-1] is not None:
        inner = [affine(access.indices[-1], what) for access in accesses]
        return Located(tuple((*row, last) for row, last in zip(outer, inner, strict=True)), tuple(extents))
    forms = [polynomial(access.indices[-1]) for access in accesses]
    for form, access in zip(forms, accesses, strict=True):
        if form is None:
            raise not_affine(what, access.indices[-1].place)
    flat = [form for form in forms if form is not None]
    failed: SourcePosition | None = None
    for strides in _choices(accesses, flat):
        found, failed = _split(accesses, flat, strides, parameters)
        if found is not None:
            rows = tuple((*row, *columns) for row, columns in zip(outer, found.subscripts, strict=True))
            return Located(rows, (*extents[:-1], *found.extents), True, found.assumed)
    for form, access in zip(flat, accesses, strict=True):
        if form.degree > 1 and failed is not None:
            raise RefusalError("index-leaves-row", f"a column of '{spelled}' may be beside its row", failed)
        if form.degree > 1:
            raise not_affine(what, access.place)
    return Located(tuple((*row, form) for row, form in zip(outer, flat, strict=True)), tuple(extents))


def _choices(accesses: Sequence[RawAccess], forms: Sequence[Polynomial]) -> Iterator[tuple[Polynomial, ...]]:
    """The strides to try, the longest first and 1 last: all that there are, then those that aren't numbers."""
    strides = (
        each for access in accesses for each in _strides(access.indices[-1], ONE, frozenset(access.iterators))
    )
    found = [*{frozenset(stride.terms.items()): stride for stride in strides}.values()]
    by_size = sorted(found, key=lambda stride: (stride.degree, max(map(abs, stride.terms.values()))), reverse=True)
    whole = [stride for stride in by_size if not stride.is_constant]
    # `2*i` alone is no row of two.
    if len(by_size) > 1 and (whole or ONE in found):
        yield (*(stride for stride in by_size if stride != ONE), ONE)
    if whole:
        yield (*whole, ONE)


def _strides(index: Expression, outer: Polynomial, iterators: frozenset[str]) -> Iterator[Polynomial]:
    """Factors of the iterators in an index."""
    match index:
        case Name(variable=variable) if variable.name in iterators:
            yield outer.scaled(-1) if outer.terms[_longest(outer)] < 0 else outer
        case Operation(operator="*", operands=(first, second)):
            for factor, rest in ((first, second), (second, first)):
                form = polynomial(factor)
                if form is not None and not form.symbols & iterators:
                    yield from _strides(rest, outer * form, iterators)
                    return
        case Operation(operands=operands, operator="+" | "-"):
            for each in operands:
                yield from _strides(each, outer, iterators)


def _split(
    accesses: Sequence[RawAccess],
    forms: Sequence[Polynomial],
    strides: Sequence[Polynomial],
    parameters: Sequence[str],
) -> tuple[Located | None, SourcePosition | None]:
    """The accesses in rows and columns of these strides; else None, and perhaps where a column leaves its row."""
    extents = []
    for longer, shorter in pairwise(strides):
        quotient, rest = divided(longer, shorter)
        if rest.terms or quotient.degree > 1:
            return None, None
        extents.append(quotient)
    rows: list[Form] = []
    assumed: dict[str, None] = {}
    for access, form in zip(accesses, forms, strict=True):
        tries = [form for form in _columns(form, strides, frozenset(access.iterators)) if _is_affine(form)]
        domain = _domain(access, parameters)
        for each in tries:
            if _outside(domain, each, extents, access, parameters).is_empty():
                rows.append(each)
                break
        else:
            conditional = next(
                filter(None, (_given(domain, each, extents, access, parameters) for each in tries)), None
            )
            if conditional is None:
                return None, access.place
            rows.append(conditional[0])
            assumed[conditional[1]] = None
    return Located(tuple(rows), (None, *extents), True, tuple(assumed)), None


def _columns(form: Polynomial, strides: Sequence[Polynomial], iterators: frozenset[str]) -> Iterator[Form]:
    """The ways to write an index as row and columns; only what has no iterator differs."""
    if len(strides) == 1:
        yield (form,)
        return
    quotient, _ = divided(form, strides[0])
    pure = Polynomial(
        {product: number for product, number in quotient.terms.items() if not iterators & {*product}}
    )
    moved: list[Polynomial] = []
    for shift in (pure, ZERO, pure - ONE, pure + ONE, ONE.scaled(-1), ONE):
        row = quotient - pure + shift
        if row not in moved:
            moved.append(row)
    for row in moved:
        for columns in _columns(form - row * strides[0], strides[1:], iterators):
            yield (row, *columns)


def divided(form: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return quotient and remainder; no term of the remainder has the divisor's longest term as a factor."""
    longest = _longest(divisor)
    factor = divisor.terms[longest]
    quotient = ZERO
    rest = form
    while True:
        for product, number in sorted(rest.terms.items(), key=lambda term: (len(term[0]), term[0]), reverse=True):
            left = _without(product, longest)
            times = int(number / factor)
            if left is not None and times:
                step = Polynomial({left: times})
                quotient, rest = quotient + step, rest - step * divisor
                break
        else:
            return quotient, rest


def _longest(form: Polynomial) -> tuple[str, ...]:
    return max(form.terms, key=lambda product: (len(product), product))


def _without(product: tuple[str, ...], factors: tuple[str, ...]) -> tuple[str, ...] | None:
    rest = list(product)
    for each in factors:
        if each not in rest:
            return None
        rest.remove(each)
    return tuple(rest)


def _is_affine(form: Form) -> bool:
    return all(each.degree <= 1 for each in form)


def _text(access: RawAccess, parameters: Sequence[str], conditions: Sequence[str]) -> str:
    given = " and ".join(f"({each})" for each in conditions) or "0 = 0"
    return f"[{', '.join(parameters)}] -> {{ [{', '.join(access.iterators)}] : {given} }}"


def _domain(access: RawAccess, parameters: Sequence[str]) -> isl.Set:
    return isl.Set(_text(access, parameters, access.conditions))


def _outside(
    domain: isl.Set, form: Form, extents: Sequence[Polynomial], access: RawAccess, parameters: Sequence[str]
) -> isl.Set:
    """The instances of which a column leaves its row."""
    inside = [
        f"0 <= {affine_text(column)} < {affine_text(extent)}"
        for column, extent in zip(form[1:], extents, strict=True)
    ]
    return domain - isl.Set(_text(access, parameters, inside))


def _given(
    domain: isl.Set, form: Form, extents: Sequence[Polynomial], access: RawAccess, parameters: Sequence[str]
) -> tuple[Form, str] | None:
    """The form, and the constraint on parameters under which no column leaves its row; None if there is none."""
    wrong = _outside(domain, form, extents, access, parameters).params()
    holds = wrong.complement().gist(domain.params()).coalesce()
    if (domain.params() - wrong).is_empty() or not _holds_for_longer_rows(holds, extents, parameters):
        return None
    return form, constraint_text(holds)


def _holds_for_longer_rows(holds: isl.Set, extents: Sequence[Polynomial], parameters: Sequence[str]) -> bool:
    """Return True for `m <= lda`, False for `n = 1`: what a row's length is raised by must not matter."""
    longer = {symbol for extent in extents for symbol in extent.symbols}
    if not longer:
        return False
    moved = holds.align_params(isl.Space.create_from_names(holds.get_ctx(), set=[], params=list(parameters)))
    moved = moved.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, len(parameters))
    raised = ", ".join(f"{name} + 1" if name in longer else name for name in parameters)
    return bool(moved.apply(isl.Map(f"{{ [{', '.join(parameters)}] -> [{raised}] }}")).is_subset(moved))


def constraint_text(parameters: isl.Set) -> str:
    """Return the constraints of a set of parameters in isl's notation."""
    _, _, text = str(parameters.coalesce()).partition(":")
    return text.rstrip("} ").strip() or "0 = 0"
