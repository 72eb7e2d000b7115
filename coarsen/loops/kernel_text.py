"""OpenCL C of a nest's kernels: one work-item for each point of the parallel loops.

    for i, for j: { s = 0; for k: s += … }
    ->  j = get_global_id(0), i = get_global_id(1): { s = 0; for k: s += … }
    for k: c[i][j] += …   ->  float c_value = c[i][j]; for k: c_value += …; c[i][j] = c_value
    for j: part += …      ->  for j from lane by SPLIT: part += …

The text is clean for what is done to it later: one test keeps work-items out that are beyond the loops' bounds,
and an element in which a loop accumulates is kept in a variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import gcd
from textwrap import wrap
from types import MappingProxyType

import islpy as isl

from coarsen.errors import InvalidInputError
from coarsen.loops import tree
from coarsen.loops.kernels import NestKernel, extents_of
from coarsen.loops.nest import Nest, Statement, free_name
from coarsen.loops.sums import GROUP_SIZE, LANES
from coarsen.loops.writer import (
    INDENT,
    Writer,
    number,
    opencl_type,
    operation,
    scanned,
    statements_of,
    variable,
)

_WIDEST = 100
_WIDE = re.compile(r"\blong\b|\bunsigned int\b|^unsigned$|\bsize_t\b")


@dataclass(frozen=True)
class KernelText:
    """A kernel in OpenCL C.

    Attributes:
        kernel: what it is of.
        text: the function.
        arguments: in their order: arrays, numbers and steps by the nest's names.
    """

    kernel: NestKernel
    text: str
    arguments: tuple[str, ...]


def whole_type(nest: Nest) -> str:
    """Return the type of whole numbers in a nest's kernels: `int`; `long` where the function has larger ones."""
    types = (*(nest.types.get(name, "") for name in nest.parameters), *(loop.type for loop in nest.loops))
    return "long" if any(map(_WIDE.search, types)) else "int"


def kernel_text(kernel: NestKernel) -> KernelText:
    """Write a kernel. Raises RefusalError (`c-type`) for types that OpenCL C has not got."""
    writing = _Writing(kernel)
    nest, whole = kernel.nest, writing.whole
    lines, shared = [*writing.plain()], [*writing.shared()]
    # Not the suffix of a number.
    words = {*re.findall(r"(?<![\w.])[A-Za-z_]\w*", " ".join([*lines, *shared]))}
    buffers = [each for each in nest.arrays.values() if each.name in words and not each.is_private]
    numbers = [name for name in nest.types if name in words]
    written = {access.array for each in kernel.statements for access in each.writes}
    steps = [name for name in kernel.steps if name in words]
    parameters = []
    for array in buffers:
        constant = "" if array.name in written else "const "
        parameters.append(f"global {constant}{opencl_type(array.element, nest.place)} *restrict {array.name}")
    for name in (*numbers, *steps):
        type_ = whole if name in (*nest.parameters, *steps) else opencl_type(nest.types[name], nest.place)
        parameters.append(f"{type_} {name}")
    head = _head(kernel.name, parameters)
    text = _function(head, lines)
    if shared:
        sizes = ", ".join((*group_size(kernel), "1", "1")[:3]).replace("//", "/")
        head.insert(0, f"__attribute__((reqd_work_group_size({sizes})))")
        text = f"#if {kernel.lane_macros[0]} > 1\n{_function(head, shared)}#else\n{text}#endif\n"
    return KernelText(kernel, text, (*(each.name for each in buffers), *numbers, *steps))


def group_size(kernel: NestKernel) -> tuple[str, ...]:
    """Return the local size of a kernel whose sums lanes share: for each dimension an expression of macros."""
    assert kernel.split is not None
    lanes, size = kernel.lane_macros
    sizes = [f"{size} // {lanes}"] * len(kernel.dimensions)
    sizes.insert(kernel.split.dimension, lanes)
    return tuple(sizes)


def macros_of(
    kernels: Sequence[KernelText], given: Mapping[str, str], *, is_for_cpus: bool = False
) -> dict[str, int]:
    """Return the values of the macros of kernels whose sums lanes share.

    Args:
        kernels: all of a nest.
        given: what is said of them: of one by its own name, `SPLIT_0`, else of all, `SPLIT`.
        is_for_cpus: whether all devices that they are for are CPUs.

    Raises:
        InvalidInputError: what is said are no numbers of work-items, or don't go together.
    """
    found: dict[str, int] = {}
    for kernel in (each.kernel for each in kernels if each.kernel.split):
        lanes, size = kernel.lane_macros
        found |= zip((lanes, size), kernel.usual_lanes(is_for_cpus=is_for_cpus), strict=True)
        said = {name: each for name, each in ((lanes, LANES), (size, GROUP_SIZE)) if {name, each} & given.keys()}
        for name, other in said.items():
            asked, word = (name, given[name]) if name in given else (other, given[other])
            if not re.fullmatch(r"[1-9]\d{0,4}", word):
                what = f"not '{word}'" if word else f"and -D {asked} gives none: write -D {asked}=64"
                raise InvalidInputError(f"{asked} is a number of work-items, {what}")
            found[name] = int(word)
        if size not in said:
            found[size] = max(1, found[size] // found[lanes]) * found[lanes]
        elif lanes not in said:
            found[lanes] = gcd(found[lanes], found[size])
        if found[size] % found[lanes]:
            raise InvalidInputError(f"{size} must be a multiple of {lanes}: {found[size]}, {found[lanes]}")
    return found


def opencl_text(kernels: Sequence[KernelText], macros: Mapping[str, int]) -> str:
    """Return the text of a program of kernels, with the values of their macros unless others are defined."""
    texts = [each.text for each in kernels]
    needs_double = any(re.search(r"\bdouble\b|\b\d+(?:\.\d*|e)[-+\de]*(?![-+\def])", text) for text in texts)
    head = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\n" if needs_double else ""
    own = [name for each in kernels if each.kernel.split for name in each.kernel.lane_macros]
    head += "".join(f"#ifndef {name}\n#define {name} {macros[name]}\n#endif\n" for name in own) + "\n" * bool(own)
    return head + "\n".join(texts)


def _function(head: Sequence[str], lines: Sequence[str]) -> str:
    return "\n".join([*head, "{", *(f"{INDENT}{line}" for line in lines), "}", ""])


def _tested(tests: Sequence[str], body: Sequence[str]) -> list[str]:
    """A body that runs if tests hold; its own condition goes with them."""
    if tests and body and body[0].startswith("if (") and all(each.startswith(INDENT) for each in body[1:-1]):
        condition = body[0].removeprefix("if (").removesuffix(") {")
        tests = [*tests, f"({condition})" if "||" in condition else condition]
        body = [line.removeprefix(INDENT) for line in body[1:-1]]
    return [f"if ({' && '.join(tests)}) {{", *(f"{INDENT}{line}" for line in body), "}"] if tests else [*body]


class _Writing:
    """Writes what the work-items of a kernel run."""

    def __init__(self, kernel: NestKernel) -> None:
        self._kernel, self._nest, self.whole = kernel, kernel.nest, whole_type(kernel.nest)
        sums = kernel.split.sums if kernel.split is not None else ()
        self._parts = {each.part for each in sums}
        self._own = {each.name for each in kernel.nest.arrays.values() if each.is_private}
        self._writer = Writer(self.whole, frozenset((*self._own, *self._parts, *(each.total for each in sums))))
        context, extents = extents_of(kernel)
        build = isl.AstBuild.from_context(context)
        self._fixed = {each.name: kernel.fixed(each) for each in kernel.statements}
        self._loops = [*_loop_names(kernel)]
        self._inside, self._tests, self._places = context, list[str](), list[str]()
        lanes_first = kernel.split is not None and kernel.split.dimension == 0
        for number_of_dimension, (name, ends) in enumerate(extents.items(), lanes_first):
            first, end = (self._writer.of_isl(build.expr_from_pw_aff(one)) for one in ends)
            item = variable(f"get_global_id({number_of_dimension})")
            place = item if first == number(0) else operation("+", item, first)
            self._places.append(f"const {self.whole} {name} = {self._writer.plain(place)};")
            self._tests.insert(0, self._writer.plain(operation("<", variable(name), end)))
            own = isl.PwAff(f"[{name}] -> {{ [({name})] }}")
            within = own.ge_set(ends[0]).params().intersect(own.lt_set(ends[1]).params())
            self._inside = self._inside.intersect(within)
        taken = {*self._nest.arrays, *self._nest.types, *kernel.dimensions, *kernel.steps, *self._loops}
        self._lane, self._item, self._count, self._next = (
            free_name(each, taken) for each in ("lane", "own", "count", "next")
        )

    def plain(self) -> list[str]:
        """Return the lines of a work-item that makes its sums alone."""
        return [*self._places, *_tested(self._tests, self._body(self._kernel.statements))]

    def shared(self) -> Iterator[str]:
        """Yield the lines of one of the lanes that share sums, if they do: each comes to every barrier."""
        kernel, nest, split = self._kernel, self._nest, self._kernel.split
        if split is None:
            return
        lanes, group = kernel.lane_macros
        lane, own, count, after = self._lane, self._item, self._count, self._next
        typed = [(each, opencl_type(each.array.element, nest.place)) for each in split.sums]
        yield from self._places
        yield f"const int {lane} = get_local_id({split.dimension});"
        yield from (f"{type_} {each.part} = {each.neutral};" for each, type_ in typed)
        iterators = {name: self._loops[2 * depth + 1] for name, depth in split.depths.items()}
        yield from _tested(self._tests, self._body(split.first, iterators))
        # Parts lie as work-items do.
        size, row, stride = lanes, "", ""
        if kernel.dimensions:
            size, rows = group, f"({group} / {lanes})"
            row, stride = (f" + {lanes} * ", "") if split.dimension == 0 else (f" + {rows} * ", f"{rows} * ")
            row += "get_local_id(1)"
        yield f"const int {own} = get_local_id(0){row};"
        for each, type_ in typed:
            yield f"local {type_} {each.parts}[{size}];"
            yield f"{each.parts}[{own}] = {each.part};"
        yield f"for (int {count} = {lanes}, {after}; {count} > 1; {count} = {after}) {{"
        yield f"{INDENT}{after} = ({count} + 1) / 2;"
        yield f"{INDENT}barrier(CLK_LOCAL_MEM_FENCE);"
        yield f"{INDENT}if ({lane} < {count} - {after}) {{"
        for each in split.sums:
            ends = (variable(f"{each.parts}[{place}]") for place in (own, f"{own} + {stride}{after}"))
            added = tree.Evaluate(each.added(*ends), "", nest.place)
            yield from (f"{INDENT * 2}{line}" for line in self._writer.lines([added]))
        yield from (f"{INDENT}}}", "}")
        totals = [f"const {type_} {each.total} = {each.parts}[{own}];" for each, type_ in typed]
        yield from _tested([*self._tests, f"{lane} == 0"], [*totals, *self._body(split.last)])

    def _body(
        self, statements: Sequence[Statement], shared: Mapping[str, str] = MappingProxyType({})
    ) -> list[str]:
        """Loops over a work-item's instances; lanes share those whose iterators `shared` has by statement."""
        nest, kernel = self._nest, self._kernel
        scheduled, always = list[isl.Map](), set[str]()
        for each in statements:
            fixed, depth = self._fixed[each.name], len(each.loops)
            if further := fixed.dim(isl.dim_type.set) - depth:
                fixed = fixed.project_out(isl.dim_type.set, depth, further).set_tuple_name(each.name)
            scheduled.append(isl.Map(nest.schedule(each)).intersect_domain(fixed))
            if self._inside.is_subset(fixed.params()):
                always.add(each.name)
        # isl takes one parameter for another in quotients where two orders of parameters meet.
        names = [*nest.parameters, *kernel.steps, *kernel.dimensions]
        same = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[], params=names)
        made = scanned(self._inside.align_params(same), nest.union(scheduled).align_params(same), self._loops)
        code = {each.name: each for each in statements}

        def run(expression: tree.Expression) -> tree.Expression:
            """Return the assignment of a statement in place of isl's call of it."""
            if not isinstance(expression, tree.Call) or expression.function not in code:
                return expression
            each = code[expression.function]
            assert each.code is not None, "kernels_of refuses a statement without"
            return self._writer.placed(each.code, dict(zip(each.iterators, expression.arguments, strict=True)))

        block = [tree.with_parts(each, run) for each in statements_of(made, self._writer.of_isl)]
        if shared:
            block = [*self._shared(block, shared)]
        taken = {*nest.arrays, *nest.types, *(loop.iterator for loop in nest.loops)}
        block = self._with_values(block, taken, always)
        return [*self._writer.lines([*self._declared(block, {*self._own})])]

    def _shared(self, block: Sequence[tree.Statement], shared: Mapping[str, str]) -> Iterator[tree.Statement]:
        """Yield statements, of whose shared loops each lane runs a part."""
        lane, one = variable(self._lane), number(1)
        for each in block:
            runs = [run.text for run in tree.all_of([each]) if isinstance(run, tree.Evaluate)]
            match each:
                case tree.For(first=tree.Declare(variable=own, value=start) as first) if start is not None and (
                    all(shared.get(name) == own.name for name in runs)
                ):
                    by = each.step.value if isinstance(each.step, tree.Assignment) else one
                    begin, further = (
                        count if by == one else operation("*", by, count)
                        for count in (lane, variable(self._kernel.lane_macros[0]))
                    )
                    yield replace(
                        each,
                        first=replace(first, value=begin if start == number(0) else operation("+", start, begin)),
                        condition=each.condition or operation("<=", variable(own.name), start),
                        step=tree.Assignment(variable(own.name), "+", further, each.place),
                    )
                case tree.Evaluate(expression=tree.Assignment(tree.Element(array=array))) if array in self._parts:
                    # The shared loop has one trip, and isl made none of it.
                    yield tree.If(operation("==", lane, number(0)), (each,), (), each.place)
                case _:
                    yield tree.with_blocks(each, lambda inner: self._shared(inner, shared))

    def _with_values(
        self, block: Sequence[tree.Statement], taken: set[str], always: Set[str] = frozenset()
    ) -> list[tree.Statement]:
        """The statements of a block, elements that its loops go back to in variables.

        Of names these are `taken`; each work-item comes to the statements that `always` names.
        """
        block = [*block]
        while found := next(self._kept_in(block, always), None):
            element, first, last = found
            name = free_name(f"{element.array}_value", taken)
            taken = taken | {name}
            inner = [tree.replaced(each, {element: variable(name)}) for each in block[first : last + 1]]
            value: tree.Expression = element
            match block[first]:
                case tree.Evaluate(expression=tree.Assignment(value=own)) as start if _set_by(start) == element:
                    value = own
                    del inner[0]
            back = tree.Assignment(element, "", variable(name), element.place)
            begun = self._declaration(name, element.array, value)
            block[first : last + 1] = [begun, *inner, tree.Evaluate(back, "", back.place)]
        return [tree.with_blocks(each, lambda inner: self._with_values(inner, taken)) for each in block]

    def _kept_in(
        self, block: Sequence[tree.Statement], always: Set[str]
    ) -> Iterator[tuple[tree.Element, int, int]]:
        """Elements that a loop of a block writes again and again, and of whose arrays it accesses no other.

        Each with the first and the last statement that may use a variable for it. It is accessed outside of loops,
        too, or by each work-item: others may lie beside their array.
        """
        for place, part in enumerate(block):
            if not isinstance(part, tree.For) or part.condition is None:
                continue
            heads = (each.first for each in tree.all_of([part]) if isinstance(each, tree.For))
            counted = {each.variable.name for each in heads if isinstance(each, tree.Declare)}
            written = {each.array for each in tree.targets_in([part]) if isinstance(each, tree.Element)}
            for array in sorted(written - self._writer.private):
                element, *others = _elements(part, array)
                if others or counted & tree.names_in(element):
                    continue
                first = last = place
                while first and {*_elements(block[first - 1], array)} <= {element}:
                    first -= 1
                while last + 1 < len(block) and {*_elements(block[last + 1], array)} <= {element}:
                    last += 1
                using = [at for at in range(first, last + 1) if _elements(block[at], array)]
                runs = [each for each in tree.all_of([part]) if _elements(each, array)]
                if any(isinstance(block[at], tree.Evaluate | tree.Declare) for at in using):
                    yield element, using[0], using[-1]
                elif any(isinstance(each, tree.Evaluate) and each.text in always for each in runs):
                    yield element, place, place

    # Variables of the work-item's own.

    def _declaration(self, name: str, array: str, value: tree.Expression | None) -> tree.Declare:
        type_ = opencl_type(self._nest.arrays[array].element, self._nest.place)
        return tree.Declare(tree.Variable("", name, type_, "local"), value, "", self._nest.place)

    def _declared(self, block: Sequence[tree.Statement], names: set[str]) -> Iterator[tree.Statement]:
        """Yield the statements of a block with declarations of variables, as far inside as they can be.

        Those that are declared leave `names`.
        """
        for name in sorted(names):
            using = [each for each in block if _elements(each, name)]
            if using and not _is_set_first(using, name):
                names.discard(name)
                yield self._declaration(name, name, None)
        for each in block:
            match each:
                case tree.Evaluate(expression=tree.Assignment(tree.Element(array=array), _, value)) if (
                    array in names
                ):
                    names.discard(array)
                    yield self._declaration(array, array, value)
                case _:
                    yield tree.with_blocks(each, lambda inner: self._declared(inner, names))


def _elements(statement: tree.Statement, array: str) -> list[tree.Element]:
    """The elements of an array that a statement accesses, each once."""
    every = (
        part for each in tree.all_of([statement]) for one in tree.expressions_of(each) for part in tree.inside(one)
    )
    return [*dict.fromkeys(part for part in every if isinstance(part, tree.Element) and part.array == array)]


def _set_by(statement: tree.Statement) -> tree.Element | None:
    """The element that an assignment sets whose array it does not read; None of any other statement."""
    match statement:
        case tree.Evaluate(expression=tree.Assignment(tree.Element() as target, "", value)):
            return target if all(each.array != target.array for each in tree.elements_in(value)) else None
    return None


def _is_set_first(using: Sequence[tree.Statement], name: str) -> bool:
    """Return True if of statements that use a variable the first sets it, or the only one does inside."""
    first, *others = using
    match first:
        case tree.For(body=body) | tree.If(then=body, otherwise=()) if not others:
            return _is_set_first([each for each in body if _elements(each, name)], name)
    target = _set_by(first)
    return target is not None and target.array == name


def _loop_names(kernel: NestKernel) -> Iterator[str]:
    """Names for isl's loops, which alternate with places in the text: the iterators' own where they are free."""
    taken = {*kernel.dimensions, *kernel.steps, *kernel.nest.arrays, *kernel.nest.types}
    yield free_name("c0", taken)
    for depth in range(max(len(each.loops) for each in kernel.nest.statements)):
        own = (each.iterators[depth] for each in kernel.statements if len(each.iterators) > depth)
        name = next((each for each in own if each not in taken), None) or free_name(f"l{depth}", taken)
        taken.add(name)
        yield name
        yield free_name(f"c{depth + 1}", taken)


def _head(name: str, parameters: Sequence[str]) -> list[str]:
    """The head of a kernel function, in lines of a page's width that end behind parameters."""
    text = ", ".join(each.replace(" ", "\0") for each in parameters)
    lines = wrap(f"kernel\0void\0{name}({text})", _WIDEST, subsequent_indent=INDENT * 2, break_long_words=False)
    return [line.replace("\0", " ") for line in lines]
