"""Reads of boxes as OpenCL C: the loops of a stencil, the indices of its taps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.fuzz.field import BACKWARDS_FROM, Axis, Field, Id, Tap, Window
from tests.fuzz.nodes import Stencil

_SUFFIX = {"int": "", "uint": "u", "size_t": "ul"}
_WIDTH_TYPE = {"int": "int", "uint": "uint", "size_t": "uint"}


def parameters(field: Field) -> str:
    """Return the parameters that a kernel has for a field, after its others."""
    width = _WIDTH_TYPE[field.index]
    return f"global const {field.element} *field, global const uint *weights, {width} width"


def stencil(node: Stencil) -> list[str]:
    """Return the lines of a stencil."""
    field = node.field
    weight = f" * weights[{_round(node.windows)}]" if node.weighted and node.windows else ""
    lines = []
    for tap in node.taps:
        index = _index(node, tap)
        lines.append(f"{node.target} = {node.target} * 3u + {_value(field, index)} * {tap.weight}u{weight};")
    lines = _bounded(node, lines, has_counters=True)
    for window in reversed(node.windows):
        lines = [f"for ({_loop(window)}) {{", *("    " + line for line in lines), "}"]
    return _bounded(node, lines, has_counters=False)


def _bounded(node: Stencil, lines: list[str], *, has_counters: bool) -> list[str]:
    """Lines under the bounds that count counters, or those that don't."""
    bounds = [bound for bound in node.bounds if bound.has_counters == has_counters]
    if not bounds:
        return lines
    conditions = (" + ".join(_terms(node, bound.axis, has_counters)) for bound in bounds)
    text = " && ".join(
        f"{each} < {_number(bound.limit, node.field)}" for each, bound in zip(conditions, bounds, strict=True)
    )
    return [f"if ({text}) {{", *("    " + line for line in lines), "}"]


def _terms(node: Stencil, number: int, has_counters: bool = True) -> list[str]:
    """What is added along an axis: ids, and counters if they count."""
    terms = [_id(each, node.field) for each in node.field.axes[number].ids]
    windows = node.windows if has_counters else ()
    return terms + [_counter(each, node.field) for each in windows if each.axis == number]


def _value(field: Field, index: str) -> str:
    if field.element == "uint2":
        return f"(field[{index}].x ^ field[{index}].y)"
    return f"field[{index}]" if field.element == "uint" else f"(uint)field[{index}]"


def _loop(window: Window) -> str:
    k, first, last = window.counter, window.least, window.greatest
    if window.form == "down":
        return f"int {k} = {last}; {k} >= {first}; --{k}"
    end = last if window.form == "<=" else last + 1
    return f"int {k} = {first}; {k} {window.form} {end}; ++{k}"


def _round(windows: Sequence[Window]) -> str:
    """The number of a round, all windows' together."""
    text = ""
    for window in windows:
        own = f"{window.counter} - {window.least}" if window.least >= 0 else f"{window.counter} + {-window.least}"
        text = f"({text}) * {window.rounds} + {own}" if text else own
    return text


def _index(node: Stencil, tap: Tap) -> str:
    field = node.field
    parts: list[str] = []
    for number, axis in enumerate(field.axes):
        terms = _terms(node, number)
        if tap.offsets[number] or not terms:
            terms.append(_number(tap.offsets[number], field))
        parts += _multiplied(terms, axis, field, node.factored)
    return " + ".join(reversed(parts) if node.turned else parts)


def _multiplied(terms: Sequence[str], axis: Axis, field: Field, factored: bool) -> Iterator[str]:
    width = ["width"] if axis.times_width else []
    factors = [*width, *([_number(axis.count, field)] if axis.count != 1 else [])]
    if not factors:
        yield from terms
    elif factored:
        yield " * ".join([f"({' + '.join(terms)})", *factors])
    else:
        yield from (" * ".join([term, *factors]) for term in terms)


def _number(value: int, field: Field) -> str:
    return f"{value}{_SUFFIX[field.index]}"


def _counter(window: Window, field: Field) -> str:
    return window.counter if field.index == "int" else f"({field.index}){window.counter}"


def _id(own: Id, field: Field) -> str:
    number = own.dimension
    text = {
        "global": f"get_global_id({number})",
        "counted": f"get_global_id({number}) - get_global_offset({number})",
        "tile": f"get_group_id({number}) * {own.step} + get_local_id({number})",
        "local": f"get_local_id({number})",
        "group": f"get_group_id({number})",
    }[own.kind]
    if own.backwards:
        text = f"{BACKWARDS_FROM} - ({text})"
    return f"({field.index})({text})"
