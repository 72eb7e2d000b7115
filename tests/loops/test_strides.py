"""Neighbours along dimension 0 reach the elements that Algorithm 1 says they do, in lowered kernels."""

from __future__ import annotations

import pytest

from coarsen.analysis.algebra.affine import SYMBOLIC, Stride, access_patterns
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.frontend.lower import lower
from coarsen.ir.graph.operands import Argument
from coarsen.loops.kernel_text import KernelText, macros_of, opencl_text
from coarsen.loops.nest import Access, Statement
from coarsen.loops.schedules import bands, pieces_of, transformation
from tests.loops.nests import NESTS
from tests.loops.test_kernels import made

FLOAT = 4


def lowered_strides(text: KernelText) -> dict[str, set[Stride]]:
    """By array, the bytes from a work-item's elements to those of its neighbour along dimension 0."""
    kernel = lower(opencl_text([text], macros_of([text], {})), text.kernel.name)
    found: dict[str, set[Stride]] = {}
    for access in access_patterns(IndexForms(kernel, ControlFlow(kernel))):
        assert isinstance(access.base, Argument)
        found.setdefault(access.base.name, set()).add(access.strides[0])
    return found


def claimed_stride(text: KernelText, statement: Statement, access: Access) -> Stride:
    """The same of an access, by its subscripts and the iterator that is dimension 0."""
    (iterator,) = (
        name
        for name, number in zip(statement.iterators, text.kernel.places[statement.name][0], strict=True)
        if number
    )
    *outer, last = (form.terms.get((iterator,), 0) for form in access.subscripts)
    return SYMBOLIC if any(outer) else last * FLOAT


@pytest.mark.parametrize("name", NESTS)
def test_strides_are_those_of_the_places(name: str) -> None:
    for text in made(name, "flat").kernels:
        if text.kernel.dimensions:
            expected: dict[str, set[Stride]] = {}
            for statement in text.kernel.statements:
                for access in statement.accesses:
                    if access.subscripts and not text.kernel.nest.arrays[access.array].is_scalar:
                        own = claimed_stride(text, statement, access)
                        expected.setdefault(access.array, set()).add(own)
            assert lowered_strides(text) == expected


@pytest.mark.parametrize("name", NESTS)
def test_what_algorithm_1_serves_is_at_neighbouring_elements(name: str) -> None:
    found = made(name, "flat")
    kernels = {each.name: text for text in found.kernels for each in text.kernel.statements}
    count = 0
    for piece in pieces_of(bands(found.nest, found.found)):
        solved = transformation(found.nest, found.found, piece)
        for reference in solved.served:
            text, statement = kernels[reference.statement], found.nest.statement(reference.statement)
            # In a kernel of several pieces, that which runs most often decides.
            if text.kernel.places[statement.name][:1] == solved.places[statement.name][:1]:
                assert claimed_stride(text, statement, reference.access) == FLOAT
                count += 1
    assert count
