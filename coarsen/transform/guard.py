"""A guard around a kernel's body, so that a coarsened launch may hold more work than the original one did.

It is put into the uncoarsened kernel; coarsening it afterwards gives a kernel for sizes that the factor does not
divide. The original launch's global size becomes an argument after the kernel's own (`ulong`, in work-items):

    before                       work-items                           work-groups
    n = get_global_size(0);      n = global_size_x;                   n = global_size_x;
    body                         if (get_global_id(0) -               groups = global_size_x / get_local_size(0);
                                     get_global_offset(0) < n) {      if (get_group_id(0) < groups) {
                                     body                                 body
                                 }                                    }

A condition that follows at once, and that may be computed for any work-item, becomes a part of the guard: merged
work-items part in one place then, and not once for each condition.

    if (inside) { x = get_global_id(0);                  x = get_global_id(0);
        if (x < m) body }                                if (inside && x < m) body

The guard of work-items parts those of one work-group, and lets the launch choose any local size along the
dimension; what the kernel demands of it (`reqd_work_group_size`) is dropped. The guard of work-groups is the same
for all of a group, so barriers may stand inside; `get_num_groups` becomes the quotient.

The guard of work-items refuses (`needs-whole-groups`) when the kernel has local memory or a barrier that orders
something, or asks for anything of its work-groups along the dimension (`analysis/legality.py`). Other barriers
are left out: not all work-items of a group would come to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coarsen.analysis.barriers import idle_barriers
from coarsen.analysis.legality import check_any_groups
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import Derivation
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique, named_in
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.graph.origin import Origin, Role
from coarsen.ir.graph.rewriting import split_entry
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import DIMENSIONS, Query, linear_id, query_named
from coarsen.transform.added_arguments import SIZE_TYPE, add_arguments, global_size_argument
from coarsen.transform.coarsen import REQUIRED
from coarsen.transform.names import NameSupply, derived, like, own
from coarsen.transform.placement.guards import PURE_CONDITIONS
from coarsen.transform.prologue import Queries
from coarsen.variant.coarsening import Configuration, Level


def guards_of(chosen: Configuration) -> tuple[tuple[int, Level], ...]:
    """Return the dimensions to guard, each with the guard's level: work-items' where these are merged, too."""
    dimensions = sorted({coarsening.dimension for coarsening in chosen})
    items = {coarsening.dimension for coarsening in chosen if coarsening.level is Level.ITEM}
    return tuple((dimension, Level.ITEM if dimension in items else Level.GROUP) for dimension in dimensions)


def guarded(kernel: Kernel, dimension: int, level: Level) -> Module:
    """Return a module with the guarded kernel, not yet verified.

    Args:
        kernel: uncoarsened, in normal form.
        dimension: of the NDRange, 0, 1 or 2.
        level: whose surplus the guard keeps out, that of work-items or of work-groups.

    Raises:
        RefusalError: the guard is one of work-items, and it matters to the kernel how they are grouped.
    """
    if level is Level.ITEM:
        check_any_groups(kernel, dimension)
    argument = global_size_argument(dimension, NameSupply(kernel))
    module = kernel.editable_graph()
    function = module.function(kernel.name)
    if level is Level.ITEM:
        _erase(function, kernel, idle_barriers(kernel))
    (size,) = add_arguments(module, function, [argument])
    if level is Level.ITEM:
        function.detach(REQUIRED)
    taken = [named.name for named in named_in(function)]
    guard = _Guard(module, function, dimension)
    guard.put_around_body(level, size)
    guard.answer_sizes()
    if level is Level.ITEM:
        guard.take_condition()
    guard.queries.declare()
    make_names_unique(function, (*taken, *module.structures))
    return module


def _erase(function: Function, kernel: Kernel, erased: Sequence[Instruction]) -> None:
    """Leave out, in a copy of a kernel's function, instructions without a result."""
    identities = set(map(id, erased))
    for copied, block in zip(function.blocks, kernel.blocks, strict=True):
        for copy, instruction in zip(list(copied.instructions), block.instructions, strict=True):
            if id(instruction) in identities:
                copy.erase()


class _Guard:
    """The guard of one function.

    Attributes:
        queries: builds what is asked of the launch.
    """

    def __init__(self, module: Module, function: Function, dimension: int) -> None:
        self.queries = Queries(module)
        self._function = function
        self._dimension = dimension
        self._build = Builder(function.entry, Origin(role=Role.GUARD))
        self._sizes: Mapping[Query, Operand] = {}

    def put_around_body(self, level: Level, size: Operand) -> None:
        """Let work-items go around the body that the original launch, of a global size, did not have."""
        entry, outside = self._function.entry, Block("outside", self._build.origin)
        body = split_entry(self._function, f"{entry.name}.guarded")
        for block in self._function.blocks:
            if block.instructions and block.terminator.opcode is Opcode.RET:
                block.erase(block.terminator)
                self._build.at_end(block).branch(outside)
        self._build.at_end(entry)
        is_inside = self._condition(level, size)
        self._build.branch_if(is_inside, body, self._function.append(outside))
        self._build.at_end(outside).return_nothing()

    def take_condition(self) -> None:
        """Make a condition with which the body begins, and without which it does nothing, a part of the guard."""
        entry = self._function.entry
        guard = entry.terminator
        body, outside = guard.blocks
        branch = body.terminator
        if branch.opcode is not Opcode.BR or len(set(branch.targets)) != 2:
            return
        ends = [block is outside or _only_leads_to(block, outside) for block in branch.blocks]
        if sum(ends) != 1 or not all(map(_is_computed_anywhere, body.instructions[:-1])):
            return
        inside, condition = branch.blocks[ends.index(False)], branch.operands[0]
        is_inside = guard.operands[0]
        body.replace_as_source(entry)
        for ended in (guard, branch):
            assert ended.block is not None
            ended.block.erase(ended)
        entry.extend(body.take_from(0))
        build = self._build.at_end(entry)
        if ends[0]:
            condition = build.binary(Opcode.XOR, condition, number(condition.type, 1), own("condition"))
        # What is computed for a work-item outside may be poison.
        both = build.select(is_inside, condition, number(condition.type, 0), own("inside"))
        build.branch_if(both, inside, outside)
        self._function.erase(body)

    def answer_sizes(self) -> None:
        """Answer, in the body, what asks for sizes of the launch along the dimension."""
        for block in self._function.blocks[1:]:
            for instruction in list(block.instructions):
                self._answer(instruction)

    def _condition(self, level: Level, size: Operand) -> Instruction:
        """Build what holds for work-items of the original launch, and the sizes of that."""
        build, ask = self._build, self.queries.ask
        if self.queries.integer != SIZE_TYPE:
            size = build.cast(Opcode.TRUNC, size, self.queries.integer, own("size"))
        if level is Level.ITEM:
            self._sizes = {Query.GLOBAL_SIZE: size}
            return build.compare("ult", self.queries.position(build, self._dimension), size, own("inside"))
        groups = build.binary(Opcode.UDIV, size, ask(build, Query.LOCAL_SIZE, self._dimension), own("groups"))
        self._sizes = {Query.GLOBAL_SIZE: size, Query.GROUP_COUNT: groups}
        return build.compare("ult", ask(build, Query.GROUP_ID, self._dimension), groups, own("inside"))

    def _answer(self, instruction: Instruction) -> None:
        query = query_named(instruction.callee) if instruction.opcode is Opcode.CALL else None
        if query is Query.GLOBAL_LINEAR_ID and self._dimension < DIMENSIONS - 1:
            _take_place(self._linear_id(self._build.before(instruction)), instruction)
            instruction.erase()
        elif query is None or query not in self._sizes:
            return
        elif instruction.arguments[0].kind is not ValueKind.CONSTANT:
            self._select(instruction, self._sizes[query])
        elif instruction.arguments[0].text == str(self._dimension):
            instruction.replace_all_uses(self._sizes[query])
            instruction.erase()

    def _select(self, query: Instruction, size: Operand) -> None:
        """A size whose dimension is known only at run time."""
        dimension = query.arguments[0]
        build = self._build.after(query)
        along = number(dimension.type, self._dimension)
        matches = build.compare("eq", dimension, along, derived(query, Derivation.MATCHES))
        chosen = build.select(matches, size, size, like(query))
        _take_place(chosen, query)
        chosen.set_operand(2, query)
        other = derived(chosen, Derivation.OTHER)
        query.name, query.has_unique_name = other.spelling, False
        query.origin = query.origin.called(other.display)

    def _linear_id(self, build: Builder) -> Instruction:
        found = linear_id(
            lambda dimension: self.queries.position(build, dimension),
            lambda dimension: self._size(build, dimension),
            lambda left, right: build.binary(Opcode.MUL, left, right, own("row")),
            lambda left, right: build.binary(Opcode.ADD, left, right, own("row")),
        )
        assert isinstance(found, Instruction)
        return found

    def _size(self, build: Builder, dimension: int) -> Operand:
        if dimension == self._dimension:
            return self._sizes[Query.GLOBAL_SIZE]
        return self.queries.ask(build, Query.GLOBAL_SIZE, dimension)


def _only_leads_to(block: Block, target: Block) -> bool:
    """Return True for a block that does nothing but lead to another one."""
    return len(block.instructions) == 1 and block.terminator.targets == (target.name,)


def _is_computed_anywhere(instruction: Instruction) -> bool:
    """Return True for what neither traps nor looks at memory."""
    if instruction.opcode is Opcode.CALL:
        return query_named(instruction.callee) is not None
    return str(instruction.opcode) in PURE_CONDITIONS


def _take_place(new: Instruction, old: Instruction) -> None:
    """Let a value that was just built be used, and called, like another one."""
    old.replace_all_uses(new)
    new.name, new.has_unique_name = old.name, True
    new.origin = new.origin.called(old.origin.name)
