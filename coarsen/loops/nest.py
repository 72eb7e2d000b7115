"""An affine loop nest: statements with their loops, domains and accesses (section 5.1 of the paper)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal

import islpy as isl
import numpy as np

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops.tree import Assignment, Directive

Coefficients = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: its iterator as the nest calls it, its step, its place, its number in the order of the text.

    `type` is the iterator's, as C has it.
    """

    iterator: str
    step: int
    place: SourcePosition
    number: int
    directives: tuple[Directive, ...] = ()
    type: str = "int"


@dataclass(frozen=True, slots=True)
class Access:
    """A read or write of an array; each subscript is an affine form of iterators and parameters."""

    array: str
    subscripts: tuple[Polynomial, ...]
    place: SourcePosition = field(compare=False)

    def matrix(self, columns: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """Return the access matrix: a row for each subscript, a column for each name and one for the constant."""
        return tuple(
            (*(form.terms.get((name,), 0) for name in columns), form.constant_part) for form in self.subscripts
        )


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that writes or reads memory.

    Attributes:
        name: `S1`, `S2` in the order of the text.
        loops: around it, the outermost first.
        position: its place among its siblings at each depth, one more than there are loops.
        conditions: constraints on iterators and parameters, in isl's notation; all of them hold.
        reads, writes: its accesses; at most one is a write.
        text: in the source, on one line.
        accumulates: the operator by which it adds to what it writes; empty if it does not.
        place: where it stands.
        code: the assignment in the nest's names; None for a value that is returned.
        refusal: why no kernel runs it, if none can be given what it accesses.
    """

    name: str
    loops: tuple[Loop, ...]
    position: tuple[int, ...]
    conditions: tuple[str, ...]
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    text: str
    accumulates: str
    place: SourcePosition
    code: Assignment | None = None
    refusal: RefusalError | None = None

    @property
    def iterators(self) -> tuple[str, ...]:
        """The iterators of the loops around it, the outermost first."""
        return tuple(loop.iterator for loop in self.loops)

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Its reads, then its writes."""
        return (*self.reads, *self.writes)

    @property
    def instance(self) -> str:
        """An instance in isl's notation: `S1[i, j]`."""
        return f"{self.name}[{', '.join(self.iterators)}]"

    def combined(self, row: Coefficients) -> str:
        """Return a sum of its iterators, each times a coefficient, as an expression."""
        numbers = zip(self.iterators, row, strict=True)
        return affine_text(Polynomial({(name,): number for name, number in numbers if number}))

    def values(self, rows: Sequence[Coefficients]) -> isl.Map:
        """Return the relation of its instances to such sums."""
        return isl.Map(f"{{ {self.instance} -> [{', '.join(map(self.combined, rows))}] }}")


@dataclass(frozen=True, slots=True)
class Array:
    """An array, or a variable as one without subscripts.

    Attributes:
        name: as the nest calls it.
        spelled: as C does.
        element: the type of an element.
        extents: of each dimension, outermost first; None for one that the source does not say.
        kind: whether the function gets it, declares it or finds it.
        is_split: whether its rows and columns were told apart in flat indices.
        is_restrict: whether the source says that nothing else points to it.
        is_scalar: whether it is a variable, whose subscripts are those of loops that have one each.
    """

    name: str
    spelled: str
    element: str
    extents: tuple[Polynomial | None, ...]
    kind: Literal["parameter", "local", "global", "constant", "symbol"]
    is_split: bool = False
    is_restrict: bool = False
    is_scalar: bool = False

    @property
    def is_local(self) -> bool:
        """Return True for what the function makes itself."""
        return self.kind == "local"

    @property
    def is_private(self) -> bool:
        """Return True for a variable of which each work-item has its own."""
        return self.is_scalar and self.is_local


@dataclass(frozen=True)
class Nest:
    """The loops of a function.

    Attributes:
        function: its name.
        parameters: whole numbers that stay the same, as the nest calls them.
        arrays: by name.
        statements: in the order of the text.
        assumptions: sentences, on which what is said of the nest depends.
        place: where the function stands.
        spelled: parameters, and all other numbers that the function is given, as the source spells them.
        types: of these, as C has them.
    """

    function: str
    parameters: tuple[str, ...]
    arrays: dict[str, Array]
    statements: tuple[Statement, ...]
    place: SourcePosition
    assumptions: tuple[str, ...] = ()
    spelled: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops with statements in them, in the order of the text."""
        found = {loop.number: loop for statement in self.statements for loop in statement.loops}
        return tuple(found[number] for number in sorted(found))

    def statement(self, name: str) -> Statement:
        """Return the statement of a name."""
        return next(each for each in self.statements if each.name == name)

    def set_text(self, body: str) -> str:
        """Return a set or relation in isl's notation, of what stands between its braces."""
        return f"[{', '.join(self.parameters)}] -> {{ {body} }}"

    def domain(self, statement: Statement) -> str:
        """Return the instances of a statement as a set in isl's notation."""
        condition = " and ".join(f"({each})" for each in statement.conditions)
        return self.set_text(f"{statement.instance} : {condition}" if condition else statement.instance)

    def access(self, statement: Statement, access: Access) -> str:
        """Return the relation of instances and the elements that they access, in isl's notation."""
        element = f"{access.array}[{', '.join(map(affine_text, access.subscripts))}]"
        return self.set_text(f"{statement.instance} -> {element}")

    def reached(self, statement: Statement, access: Access) -> isl.Map:
        """Return the relation of the instances that run and the elements that they access."""
        return isl.Map(self.access(statement, access)).intersect_domain(isl.Set(self.domain(statement)))

    def union(self, parts: Iterable[isl.Map]) -> isl.UnionMap:
        """Return relations as one."""
        return reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, parts), isl.UnionMap(self.set_text("")))

    def at(self, sizes: Mapping[str, int]) -> isl.Set:
        """Return the values of its parameters that some have, as a set."""
        fixed = " and ".join(f"{name} = {sizes[name]}" for name in self.parameters)
        return isl.Set(self.set_text(f": {fixed or '0 = 0'}"))

    def schedule(self, statement: Statement) -> str:
        """Return the relation of instances and the times at which the source runs them, in isl's notation."""
        depth = max(len(each.loops) for each in self.statements)
        times = [str(statement.position[0])]
        for loop, position in zip(statement.loops, statement.position[1:], strict=True):
            times += ["-" * (loop.step < 0) + loop.iterator, str(position)]
        times += ["0", "0"] * (depth - len(statement.loops))
        return self.set_text(f"{statement.instance} -> [{', '.join(times)}]")


def affine_text(form: Polynomial) -> str:
    """Return an affine form as C and isl write it: `2*i + n - 1`, names in order, the constant last."""
    return str(form).replace("·", "*")


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name, with as many underscores behind it as it takes to be none of those that are taken."""
    while name in taken:
        name += "_"
    return name


def common_loops(first: Statement, second: Statement) -> int:
    """Return the number of loops that two statements share."""
    return sum(one.number == other.number for one, other in zip(first.loops, second.loops, strict=False))


# Reuse: how often accesses come back to the same element: section 5.1 of the paper, condition (1).


@dataclass(frozen=True)
class Reuse:
    """The reuse of an access.

    Attributes:
        rank: of the iterators' columns of its matrix; those of parameters don't count, since they stay the same.
        depth: the number of iterators.
        redundant: the iterators that don't occur in it.
        neighbours: the number of accesses of the array in the statement, itself among them, that differ from it by
            numbers alone: constant reuse, as stencils have it.
    """

    rank: int
    depth: int
    redundant: tuple[str, ...]
    neighbours: int

    @property
    def is_higher_order(self) -> bool:
        """Return True if an element is accessed again along a whole loop, or a combination of loops."""
        return self.rank < self.depth


def reuse_of(access: Access, statement: Statement, around: Sequence[tuple[int, ...]] = ()) -> Reuse:
    """Return the reuse of an access of a statement among what has the same values of some rows of coefficients."""
    iterators = statement.iterators
    rows = [*(row[:-1] for row in access.matrix(iterators)), *around]
    rank = int(np.linalg.matrix_rank(np.array(rows))) if rows and iterators else 0
    redundant = tuple(name for column, name in enumerate(iterators) if not any(row[column] for row in rows))
    shifts = {
        tuple(form.constant_part for form in other.subscripts)
        for other in statement.accesses
        if other.array == access.array
        and all((one - two).is_constant for one, two in zip(access.subscripts, other.subscripts, strict=True))
    }
    return Reuse(rank, len(iterators), redundant, len(shifts))
