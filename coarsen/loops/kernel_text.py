"""OpenCL C of a nest's kernels: one work-item for each point of the parallel loops.

    for i, for j: { s = 0; for k: s += … }
    ->  j = get_global_id(0), i = get_global_id(1): { s = 0; for k: s += … }

The text is clean for what is done to it later: one test keeps work-items out that are beyond the loops' bounds,
and an element in which a loop accumulates is held in a variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from coarsen.loops.ast_text import c_text, in_parentheses
from coarsen.loops.body_text import INDENT, Body
from coarsen.loops.expression_text import Writer, opencl_type
from coarsen.loops.kernels import NestKernel, extents_of
from coarsen.loops.nest import Nest, free_name

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
    """Write a kernel.

    Raises:
        RefusalError: `c-type` for types that OpenCL C has not got.
    """
    nest, whole = kernel.nest, whole_type(kernel.nest)
    context, extents = extents_of(kernel)
    build = isl.AstBuild.from_context(context)
    inside = context
    lines: list[str] = []
    tests: list[str] = []
    for number, each in enumerate(extents):
        ends = (build.expr_from_pw_aff(end) for end in (each.first, each.behind))
        first, behind = (in_parentheses(c_text(end, whole)) for end in ends)
        offset = "" if first == "0" else f" + {first}"
        lines.append(f"const {whole} {each.name} = get_global_id({number}){offset};")
        tests.insert(0, f"{each.name} < {behind}")
        own = isl.PwAff(f"[{each.name}] -> {{ [({each.name})] }}")
        inside = inside.intersect(own.ge_set(each.first).params()).intersect(own.lt_set(each.behind).params())
    body = [*_body(kernel, whole, inside)]
    # A work-item's own condition goes with the test.
    is_one = body[0].startswith("if (") and all(each.startswith(INDENT) for each in body[1:-1])
    if tests and is_one:
        condition = body[0].removeprefix("if (").removesuffix(") {")
        tests.append(f"({condition})" if "||" in condition else condition)
        body = [line.removeprefix(INDENT) for line in body[1:-1]]
    if tests:
        lines += [f"if ({' && '.join(tests)}) {{", *(f"{INDENT}{line}" for line in body), "}"]
    else:
        lines += body
    # Not the suffix of a number.
    words = {*re.findall(r"(?<![\w.])[A-Za-z_]\w*", " ".join(lines))}
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
    text = "\n".join([*_head(kernel.name, parameters), "{", *(f"{INDENT}{line}" for line in lines), "}", ""])
    return KernelText(kernel, text, (*(each.name for each in buffers), *numbers, *steps))


def opencl_text(kernels: Sequence[KernelText]) -> str:
    """Return the text of a program of kernels."""
    texts = [each.text for each in kernels]
    needs_double = any(re.search(r"\bdouble\b|\b\d+(?:\.\d*|e)[-\de]*(?![-\def])", text) for text in texts)
    head = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\n" if needs_double else ""
    return head + "\n".join(texts)


def _body(kernel: NestKernel, whole: str, inside: isl.Set) -> Iterator[str]:
    nest = kernel.nest
    schedule = isl.UnionMap(nest.set_text(""))
    always = set()
    for each in kernel.statements:
        fixed = kernel.fixed(each)
        schedule = schedule.union(isl.UnionMap.from_map(isl.Map(nest.schedule(each)).intersect_domain(fixed)))
        if inside.is_subset(fixed.params()):
            always.add(each.name)
    ids = isl.IdList.alloc(isl.DEFAULT_CONTEXT, 0)
    for name in _loop_names(kernel):
        ids = ids.add(isl.Id(name))
    # isl takes one parameter for another in quotients where two orders of parameters meet.
    names = [*nest.parameters, *kernel.steps, *kernel.dimensions]
    same = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[], params=names)
    build = isl.AstBuild.from_context(inside.align_params(same)).set_iterators(ids)
    node = build.node_from_schedule_map(schedule.align_params(same))
    private = frozenset(each.name for each in nest.arrays.values() if each.is_private)
    return Body(nest, kernel.statements, Writer(whole, private), frozenset(always)).lines(node)


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


def _head(name: str, parameters: Sequence[str]) -> Iterator[str]:
    """The head of a kernel function, in lines of a page's width."""
    line = f"kernel void {name}("
    for number, each in enumerate(parameters):
        part = each + (")" if number == len(parameters) - 1 else ",")
        if len(line) + len(part) > _WIDEST:
            yield line.rstrip()
            line = INDENT * 2
        line += f"{part} "
    yield line.rstrip() + ("" if parameters else ")")
