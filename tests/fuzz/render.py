"""A tree of `nodes.py` as OpenCL C; what keeps it free of races and undefined behaviour is written there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch

from tests.fuzz import nodes
from tests.fuzz.nodes import Kernel, Statement
from tests.fuzz.render_fields import parameters, stencil

NAME = "fuzzed"
DATA = 512
SLOTS = 6
ARRAY = 4
COUNTERS = 4
OPERATIONS = ("add", "xor", "and", "or", "max", "min")
MAX_GROUP = 32
LANES = {"w": 4, "v": 2}

# What the kernel may ask for, by the name under which it does, for one and for two dimensions.
QUERIES = {
    "size": ("get_global_size(0)", "get_global_size(0) * get_global_size(1)"),
    "x": ("get_global_id(0) - get_global_offset(0)",) * 2,
    "y": ("0", "get_global_id(1) - get_global_offset(1)"),
    "id": ("get_global_id(0) - get_global_offset(0)", "y * (uint)get_global_size(0) + x"),
    "where": ("get_global_id(0)", "get_global_id(0) + get_global_id(1)"),
    "item": ("get_local_id(0)", "get_local_id(1) * get_local_size(0) + get_local_id(0)"),
    "items": ("get_local_size(0)", "get_local_size(0) * get_local_size(1)"),
    "group": ("get_group_id(0)", "get_group_id(1) * get_num_groups(0) + get_group_id(0)"),
    "groups": ("get_num_groups(0)", "get_num_groups(1) + get_num_groups(0)"),
    "part": ("(get_global_id(0) - get_global_offset(0)) / get_local_size(0)",) * 2,
}
# Variables of the kernel: those that may differ between items, those that start uniform, and those that are
# given nothing but what is the same for the whole work-group.
VARIABLES = {
    "d0": "data[id * 4u]",
    "d1": "data[id * 2u + 1u]",
    "d2": "id * 5u + a",
    "u0": "a * 7u + b",
    "u1": "data[b % 7u]",
    "g0": "b + group",
    "g1": "a ^ 5u",
}
DIVERGENT_TARGETS = ("d0", "d1", "d2", "u0", "u1")
_OTHERS = {
    "array": f"uint array[{ARRAY}] = {{a, b, 3u, 4u}};",
    "w": "uint4 w = (uint4)(a, b, id, 5u);",
    "v": "uint2 v = (uint2)(id, b);",
    "shared": f"local uint shared[{MAX_GROUP}];",
    "sum": "local uint sum;",
}
_OFFSET = re.compile(r" - get_global_offset\(\d\)")
_BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"


def source(kernel: Kernel, local_size: Sequence[int] = ()) -> str:
    """OpenCL C of `fuzzed(data, result, total, tile, a, b)`, with nothing declared that it doesn't use.

    With stencils it has three arguments more (`render_fields.parameters`), and demands the local size.
    """
    helpers = "".join(_helper(helper) for helper in kernel.helpers)
    body = [*_block(kernel.body), *(f"RESULT({slot}u) = {name};" for slot, name in enumerate(_seen(kernel)))]
    lines = [*_declarations(body, kernel), *body]
    text = "\n    ".join(line.replace("RESULT(", f"{_result(kernel)}(") for line in lines)
    further = [f", {parameters(each.field)}" for each in kernel.stencils[:1]]
    sizes = ", ".join(str(size) for size in (*local_size, 1, 1)[:3])
    kind = f"kernel __attribute__((reqd_work_group_size({sizes})))\nvoid" if further else "kernel void"
    return (
        "#define ROWS(slot) result[id * 6u + slot]\n#define COLUMNS(slot) result[slot * size + id]\n"
        f"{helpers}{kind} {NAME}(global const uint *data, global uint *result, global uint *total,\n"
        f"                   local uint *tile, uint a, uint b{''.join(further)}) {{\n    {text}\n}}\n"
    )


def _result(kernel: Kernel) -> str:
    return "ROWS" if kernel.layout == "rows" else "COLUMNS"


def _seen(kernel: Kernel) -> list[str]:
    """The variables that the body sets, as many as there are slots: they are written to `result` at its end."""
    text = "\n".join(_block(kernel.body))
    found = [name for name in VARIABLES if re.search(rf"\b{name} [-+*^]?=", text)]
    return [*found, *(f"{name}.x + {name}.y" for name in LANES if re.search(rf"\b{name}\b", text))][:SLOTS]


def _declarations(body: list[str], kernel: Kernel) -> Iterator[str]:
    """What the body uses, and what that uses, each after what it needs."""
    declared: list[str] = []
    needed = _words(body)
    if needed & {"RESULT"}:
        needed |= {"id", "size"}
    for name in reversed([*QUERIES, *VARIABLES, *_OTHERS]):
        if name not in needed:
            continue
        if name in QUERIES:
            answer = QUERIES[name][kernel.dimensions - 1]
            if not kernel.counts_offset:
                answer = _OFFSET.sub("", answer)
            declared.append(f"const uint {name} = {answer};")
        else:
            declared.append(f"uint {name} = {VARIABLES[name]};" if name in VARIABLES else _OTHERS[name])
        needed |= _words(declared[-1:])
    yield from reversed(declared)


def _words(lines: Iterable[str]) -> set[str]:
    return set(re.findall(r"[A-Za-z]\w*", "\n".join(lines)))


def _helper(helper: nodes.Helper) -> str:
    lines = [*_block(helper.body), f"return {expression(helper.value)};"]
    return f"uint {helper.name}(uint p, uint q) {{\n    " + "\n    ".join(lines) + "\n}\n"


def _block(statements: Iterable[Statement]) -> list[str]:
    return [line for statement in statements for line in _lines(statement)]


def _indented(statements: Iterable[Statement]) -> list[str]:
    return ["    " + line for line in _block(statements)]


# Expressions and conditions.


@singledispatch
def expression(node: object) -> str:
    """An expression or condition as OpenCL C, in parentheses where that is needed."""
    raise TypeError(f"no expression: {node!r}")


@expression.register
def _(node: nodes.Constant) -> str:
    return f"{node.value}u"


@expression.register
def _(node: nodes.Variable) -> str:
    return node.name


@expression.register
def _(node: nodes.Binary) -> str:
    right = expression(node.right)
    if node.operator in "/%" and not (isinstance(node.right, nodes.Constant) and node.right.value):
        right = f"({right} | 1u)"
    return f"({expression(node.left)} {node.operator} {right})"


@expression.register
def _(node: nodes.Shifted) -> str:
    return f"({expression(node.value)} >> {node.amount})"


@expression.register
def _(node: nodes.Converted) -> str:
    value = expression(node.value)
    if node.type == "float":
        return f"(uint)((float)({value} & 4095u) * 0.5f)"
    return f"(uint)(({node.type}){value} * 3u)"


@expression.register
def _(node: nodes.Choice) -> str:
    return f"({expression(node.condition)} ? {expression(node.yes)} : {expression(node.no)})"


@expression.register
def _(node: nodes.Load) -> str:
    return f"data[{expression(node.index)} % {DATA}u]"


@expression.register
def _(node: nodes.OwnLoad) -> str:
    scaled = f"id * {node.scale}u" if node.scale > 1 else "id"
    return f"data[{scaled} + {node.offset}u]" if node.offset else f"data[{scaled}]"


@expression.register
def _(node: nodes.Recall) -> str:
    return f"RESULT({node.slot}u)"


@expression.register
def _(node: nodes.Element) -> str:
    return f"array[{expression(node.index)} % {ARRAY}u]"


@expression.register
def _(node: nodes.Call) -> str:
    return f"{node.helper}({expression(node.first)}, {expression(node.second)})"


@expression.register
def _(node: nodes.Truth) -> str:
    return "true" if node.value else "false"


@expression.register
def _(node: nodes.Compare) -> str:
    return f"{expression(node.left)} {node.operator} {expression(node.right)}"


@expression.register
def _(node: nodes.Joined) -> str:
    return f"(({expression(node.left)}) {node.operator} ({expression(node.right)}))"


# Statements.


@singledispatch
def _lines(node: object) -> list[str]:
    raise TypeError(f"no statement: {node!r}")


@_lines.register
def _(node: nodes.Assign) -> list[str]:
    return [f"{node.target} {node.operator} {expression(node.value)};"]


@_lines.register
def _(node: nodes.SetElement) -> list[str]:
    return [f"array[{expression(node.index)} % {ARRAY}u] = {expression(node.value)};"]


@_lines.register
def _(node: nodes.SetVector) -> list[str]:
    lanes = LANES[node.target]
    values = ", ".join(expression(value) for value in node.values)
    turned = "yzwx" if lanes == 4 else "yx"
    return [f"{node.target} = {node.target}.{turned} {node.operator} (uint{lanes})({values});"]


@_lines.register
def _(node: nodes.LoadVector) -> list[str]:
    lanes = LANES[node.target]
    return [f"{node.target} += vload{lanes}({expression(node.index)} % {DATA // lanes}u, data);"]


@_lines.register
def _(node: nodes.Publish) -> list[str]:
    return [f"RESULT({node.slot}u) = {expression(node.value)};"]


@_lines.register
def _(node: nodes.Count) -> list[str]:
    row = OPERATIONS.index(node.operation) * COUNTERS
    cell = f"{row}u + {expression(node.cell)} % {COUNTERS}u"
    return [f"atomic_{node.operation}(&total[{cell}], {expression(node.value)});"]


@_lines.register
def _(node: nodes.Leave) -> list[str]:
    return [f"{node.way};"]


@_lines.register
def _(node: nodes.If) -> list[str]:
    lines = [f"if ({expression(node.condition)}) {{", *_indented(node.then)]
    if node.otherwise:
        lines += ["} else {", *_indented(node.otherwise)]
    return [*lines, "}"]


@_lines.register
def _(node: nodes.For) -> list[str]:
    i, start, limit = node.counter, expression(node.start), expression(node.limit)
    if node.reach == "short":
        head = f"for (uint {i} = {start} % 4u, {i}_end = {limit} % 7u; {i} < {i}_end; ++{i}) {{"
    else:
        first, step = ("id", "size") if node.reach == "grid" else ("item", "items")
        head = f"for (uint {i} = {first}, {i}_end = {limit} % ({step} * 3u); {i} < {i}_end; {i} += {step}) {{"
    return [head, *_indented(node.body), "}"]


@_lines.register
def _(node: nodes.While) -> list[str]:
    i, test = node.counter, expression(node.condition)
    body = _indented(node.body)
    if node.tested_first:
        return [f"for (uint {i} = 0; {i} < 6u && ({test}); ++{i}) {{", *body, "}"]
    return [f"{{ uint {i} = 0; do {{", *body, f"}} while (++{i} < 6u && ({test})); }}"]


@_lines.register
def _(node: nodes.Switch) -> list[str]:
    lines = [f"switch ({expression(node.value)} % {len(node.cases) + 1}u) {{"]
    for number, case in enumerate(node.cases):
        lines += [f"case {number}: {{", *_indented(case), "}" if number == 0 and node.falls else "} break;"]
    return [*lines, "default: {", *_indented(node.default), "}}"]


@_lines.register
def _(node: nodes.Exchange) -> list[str]:
    memory = node.memory
    return [
        f"{memory}[item] = {expression(node.value)};",
        _BARRIER,
        f"{node.target} += {memory}[(item + {node.offset}u) % items];",
        _BARRIER,
    ]


@_lines.register
def _(node: nodes.Tally) -> list[str]:
    start = ["if (item == 0u) {", "    sum = 0u;", "}", _BARRIER]
    return [*start, f"atomic_add(&sum, {expression(node.value)});", _BARRIER, f"{node.target} ^= sum;", _BARRIER]


@_lines.register
def _(node: nodes.Reduce) -> list[str]:
    memory = node.memory
    return [
        f"{memory}[item] = {expression(node.value)};",
        _BARRIER,
        "for (uint left = items; left > 1u; left = (left + 1u) / 2u) {",
        "    if (item < left / 2u) {",
        f"        {memory}[item] += {memory}[item + (left + 1u) / 2u];",
        "    }",
        f"    {_BARRIER}",
        "}",
        f"{node.target} ^= {memory}[0];",
        _BARRIER,
    ]


@_lines.register
def _(node: nodes.Stencil) -> list[str]:
    return stencil(node)
