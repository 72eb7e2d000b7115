"""A guard around a kernel's body, so that a coarsened launch may hold more work than the original one did.

It is put into the uncoarsened kernel; coarsening it afterwards gives a kernel for sizes that the factor does not
divide. The original launch's global size becomes an argument behind the kernel's own (`ulong`, in work-items):

    before                       work-items                           work-groups
    n = get_global_size(0);      n = global_size_x;                   n = global_size_x;
    body                         if (get_global_id(0) -               groups = global_size_x / get_local_size(0);
                                     get_global_offset(0) < n) {      if (get_group_id(0) < groups) {
                                     body                                 body
                                 }                                    }

The guard of work-items parts those of one work-group, and lets the launch choose any local size along the
dimension; what the kernel demands of it (`reqd_work_group_size`) is dropped. The guard of work-groups is the same
for all of a group, so barriers may stand inside; `get_num_groups` becomes the quotient.

The guard of work-items refuses (`needs-whole-groups`) when the kernel has a barrier or local memory, or asks for
anything of its work-groups along the dimension (`analysis/whole_groups.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from coarsen.analysis.whole_groups import check_any_groups
from coarsen.ir.kernel import AddedArgument, Argument, Block, Instruction, Kernel
from coarsen.ir.opencl.queries import DIMENSIONS, Query, linear_id, queried_dimension, query_of
from coarsen.ir.printer import assemble, rename
from coarsen.transform.added_arguments import SIZE_TYPE, global_size_argument, with_arguments
from coarsen.transform.names import NameSupply
from coarsen.transform.query_lines import QueryLines, declarations
from coarsen.variant.coarsening import Configuration, Level

_REQUIRED = re.compile(r" !reqd_work_group_size !\d+")


def guards_of(chosen: Configuration) -> tuple[tuple[int, Level], ...]:
    """The dimensions to guard, each with the guard's level: work-items' where these are merged, too."""
    dimensions = sorted({coarsening.dimension for coarsening in chosen})
    items = {coarsening.dimension for coarsening in chosen if coarsening.level is Level.ITEM}
    return tuple((dimension, Level.ITEM if dimension in items else Level.GROUP) for dimension in dimensions)


def guard_argument(dimension: int) -> AddedArgument:
    """What the launch passes to a kernel that is guarded along a dimension."""
    return AddedArgument("global-size", dimension)


def guarded_assembly(kernel: Kernel, dimension: int, level: Level) -> str:
    """The LLVM IR text of a kernel's module with the guard, not yet verified.

    Args:
        kernel: uncoarsened, in normal form.
        dimension: of the NDRange, 0, 1 or 2.
        level: whose surplus the guard keeps out, that of work-items or of work-groups.

    Raises:
        RefusalError: the guard is one of work-items, and it matters to the kernel how they are grouped.
    """
    if level is Level.ITEM:
        check_any_groups(kernel, dimension)
    names = NameSupply(kernel)
    argument = global_size_argument(dimension, names)
    extended = with_arguments(kernel, [argument])
    guard = _Guard(QueryLines(extended, names), dimension, level, argument)
    blocks = list(guard.blocks())
    signature = extended.signature if level is Level.GROUP else _REQUIRED.sub("", extended.signature)
    return assemble(extended, blocks, guard.declarations(), signature)


class _Guard:
    """Writes the blocks of one guarded kernel.

    `_sizes` maps the queries that the guard answers along its dimension to their answers; `_inside` is the guard's
    condition.
    """

    def __init__(self, start: QueryLines, dimension: int, level: Level, argument: Argument) -> None:
        self._kernel = start.kernel
        self._names = start.names
        self._start = start
        self._dimension = dimension
        self._integer = start.integer
        size = f"%{argument.name}"
        if start.integer != str(SIZE_TYPE):
            size = start.instruction(f"trunc {SIZE_TYPE} {size} to {start.integer}", "size")
        self._sizes = {Query.GLOBAL_SIZE: size}
        if level is Level.GROUP:
            groups = start.operation("udiv", size, start.query(Query.LOCAL_SIZE, dimension), "groups")
            self._sizes[Query.GROUP_COUNT] = groups
            self._inside = start.operation("icmp ult", start.query(Query.GROUP_ID, dimension), groups, "inside")
        else:
            self._inside = start.operation("icmp ult", start.position(dimension), size, "inside")

    def blocks(self) -> Iterator[tuple[str, list[str]]]:
        """The blocks' names and lines: allocas and the guard's branch, the body, the way out."""
        entry, *others = self._kernel.blocks
        body, outside = self._names.fresh(f"{entry.name}.guarded"), self._names.fresh("outside")
        names = {**self._answered(), entry.name: f"%{body}"}
        allocas = [i.text for i in entry.instructions if i.opcode == "alloca"]
        kept = [i for i in entry.instructions if i.opcode != "alloca"]
        branch = f"br i1 {self._inside}, label %{body}, label %{outside}"
        yield entry.name, [*allocas, *self._start.lines, branch]
        for block in (Block(body, tuple(kept)), *others):
            yield block.name, [line for i in block.instructions for line in self._lines(i, names, outside)]
        yield outside, ["ret void"]

    def declarations(self) -> Iterator[str]:
        """The `declare` lines for builtins that the kernel did not call before."""
        yield from declarations(self._kernel, self._start.called, self._integer)

    def _answered(self) -> dict[str, str]:
        """What stands for a size along the dimension wherever it is asked for with a constant."""
        return {
            instruction.name: self._sizes[query]
            for instruction in self._kernel.instructions()
            if (query := query_of(instruction)) in self._sizes
            and queried_dimension(instruction) == self._dimension
        }

    def _lines(self, instruction: Instruction, names: Mapping[str, str], outside: str) -> Iterator[str]:
        query = query_of(instruction)
        if instruction.opcode == "ret":
            yield f"br label %{outside}"
        elif query is Query.GLOBAL_LINEAR_ID and self._dimension < DIMENSIONS - 1:
            yield from self._linear_id(instruction.name)
        elif query in self._sizes and queried_dimension(instruction) is None:
            yield from self._selection(instruction, self._sizes[query], names)
        elif not instruction.name or instruction.name not in names:
            yield rename(instruction.text, names)

    def _selection(self, query: Instruction, size: str, names: Mapping[str, str]) -> Iterator[str]:
        """A size whose dimension is known only at run time."""
        dimension = rename("%" + query.arguments[0].text, names)
        other, matches = self._names.fresh(f"{query.name}.other"), self._names.fresh(f"{query.name}.matches")
        yield f"%{other} = {rename(query.text, names).partition(' = ')[2]}"
        yield f"%{matches} = icmp eq i32 {dimension}, {self._dimension}"
        integer = self._integer
        yield f"%{query.name} = select i1 %{matches}, {integer} {size}, {integer} %{other}"

    def _linear_id(self, name: str) -> Iterator[str]:
        here = self._start.elsewhere()
        linear_id(
            here.position,
            lambda dimension: self._size(here, dimension),
            lambda left, right: here.operation("mul", left, right, "row"),
            lambda left, right: here.operation("add", left, right, "row"),
        )
        *before, last = here.lines
        yield from before
        yield f"%{name} = {last.partition(' = ')[2]}"

    def _size(self, here: QueryLines, dimension: int) -> str:
        if dimension == self._dimension:
            return self._sizes[Query.GLOBAL_SIZE]
        return here.query(Query.GLOBAL_SIZE, dimension)
