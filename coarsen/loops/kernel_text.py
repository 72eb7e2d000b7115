"""OpenCL C of a nest's kernels: one work-item for each point of the parallel loops.

    for i, for j: { s = 0; for k: s += … }
    ->  j = get_global_id(0), i = get_global_id(1): { s = 0; for k: s += … }

The text is clean for what is done to it later: one test keeps work-items out that are beyond the loops' bounds,
and an element in which a loop accumulates is kept in a variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from textwrap import wrap

import islpy as isl

from coarsen.errors import InvalidInputError
from coarsen.loops.body_text import INDENT, Body, Lanes
from coarsen.loops.expression_text import Writer, opencl_type, operation, variable
from coarsen.loops.kernels import NestKernel, extents_of
from coarsen.loops.nest import Nest, Statement, free_name
from coarsen.loops.splits import GROUP_SIZE, LANES

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
        is_real = name in nest.types and name not in nest.parameters
        parameters.append(f"{opencl_type(nest.types[name], nest.place) if is_real else whole} {name}")
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
        context, extents = extents_of(kernel)
        build, writer = isl.AstBuild.from_context(context), Writer(self.whole, frozenset())
        self._writer = writer
        self._fixed = {each.name: kernel.fixed(each) for each in kernel.statements}
        self._loops = [*_loop_names(kernel)]
        self._inside, self._tests, self._places = context, list[str](), list[str]()
        lanes_first = kernel.split is not None and kernel.split.dimension == 0
        for number, (name, ends) in enumerate(extents.items(), lanes_first):
            first, end = (writer.of_isl(build.expr_from_pw_aff(one)) for one in ends)
            number_of_item = variable(f"get_global_id({number})")
            place = number_of_item if getattr(first, "value", None) == 0 else operation("+", number_of_item, first)
            self._places.append(f"const {self.whole} {name} = {writer.plain(place)};")
            self._tests.insert(0, writer.plain(operation("<", variable(name), end)))
            own = isl.PwAff(f"[{name}] -> {{ [({name})] }}")
            within = own.ge_set(ends[0]).params().intersect(own.lt_set(ends[1]).params())
            self._inside = self._inside.intersect(within)

    def plain(self) -> list[str]:
        """Return the lines of a work-item that makes its sums alone."""
        return [*self._places, *_tested(self._tests, self._body(self._kernel.statements))]

    def shared(self) -> Iterator[str]:
        """Yield the lines of one of the lanes that share sums, if they do: each comes to every barrier."""
        kernel, nest, split = self._kernel, self._nest, self._kernel.split
        if split is None:
            return
        lanes, group = kernel.lane_macros
        taken = {*nest.arrays, *nest.types, *kernel.dimensions, *kernel.steps, *self._loops}
        lane, own, count, after = (free_name(each, taken) for each in ("lane", "own", "count", "next"))
        typed = [(each, opencl_type(each.array.element, nest.place)) for each in split.sums]
        yield from self._places
        yield f"const int {lane} = get_local_id({split.dimension});"
        yield from (f"{type_} {each.part} = {each.neutral};" for each, type_ in typed)
        iterators = {name: self._loops[2 * depth + 1] for name, depth in split.depths.items()}
        shared = Lanes(lane, lanes, iterators, frozenset(each.part for each in split.sums))
        yield from _tested(self._tests, self._body(split.first, shared))
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
            yield f"{INDENT * 2}{self._writer.assignment(each.added(*ends), {})}"
        yield from (f"{INDENT}}}", "}")
        totals = [f"const {type_} {each.total} = {each.parts}[{own}];" for each, type_ in typed]
        yield from _tested([*self._tests, f"{lane} == 0"], [*totals, *self._body(split.last)])

    def _body(self, statements: Sequence[Statement], lanes: Lanes | None = None) -> list[str]:
        nest, kernel = self._nest, self._kernel
        schedule = isl.UnionMap(nest.set_text(""))
        always = set()
        for each in statements:
            fixed, depth = self._fixed[each.name], len(each.loops)
            if shared := fixed.dim(isl.dim_type.set) - depth:
                fixed = fixed.project_out(isl.dim_type.set, depth, shared).set_tuple_name(each.name)
            schedule = schedule.union(isl.UnionMap.from_map(isl.Map(nest.schedule(each)).intersect_domain(fixed)))
            if self._inside.is_subset(fixed.params()):
                always.add(each.name)
        ids = isl.IdList.alloc(isl.DEFAULT_CONTEXT, 0)
        for name in self._loops:
            ids = ids.add(isl.Id(name))
        # isl takes one parameter for another in quotients where two orders of parameters meet.
        names = [*nest.parameters, *kernel.steps, *kernel.dimensions]
        same = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[], params=names)
        build = isl.AstBuild.from_context(self._inside.align_params(same)).set_iterators(ids)
        node = build.node_from_schedule_map(schedule.align_params(same))
        private = {each.name for each in nest.arrays.values() if each.is_private}
        if kernel.split is not None:
            private |= {name for each in kernel.split.sums for name in (each.part, each.total)}
        writer = Writer(self.whole, frozenset(private))
        return [*Body(nest, statements, writer, frozenset(always), lanes).lines(node)]


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
