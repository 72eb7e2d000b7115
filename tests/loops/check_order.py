"""Whether launches run what a C function does, in an order that keeps what depends on each other: by enumeration.

No scheduler is asked: the function is gone through at small sizes (`executed.py`), and so are the launches, their
work-items and the instances of each. Which work-items run at all is read from the kernel's text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import islpy as isl

from coarsen.loops.kernel_text import KernelText
from coarsen.loops.launches import Launching, each_launch
from coarsen.loops.nest import Nest, Statement
from tests.loops.executed import Executed, pairs

_ID = re.compile(r"const \w+ (\w+) = get_global_id\((\d)\)(?: \+ (.+))?;")
_GUARD = re.compile(r"    if \((.+)\) \{")
Instance = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Place:
    """Where and when an instance runs: the launch, the work-item, the time in this."""

    launch: int
    item: tuple[int, ...]
    time: tuple[int, ...]


def violations(
    launches: Sequence[Launching], executed: Sequence[Executed], nest: Nest, sizes: Mapping[str, int]
) -> list[str]:
    """Return what is wrong with launches, a sentence each.

    Args:
        launches: of all kernels.
        executed: the instances that the C function runs, in its order.
        nest: of the function, as it was read.
        sizes: the values of its parameters, and of macros.
    """
    found: dict[Instance, Place] = {}
    wrong: list[str] = []
    for number, (launch, global_size, _, steps) in enumerate(each_launch(launches, sizes)):
        values = {**sizes, **steps}
        kernel, items = launch.kernel.kernel, [*_let_in(launch.kernel, global_size, values)]
        at = tuple(values[name] for name in kernel.steps)
        spread = {each.name: _by_place(kernel.spread(each), values, at) for each in kernel.statements}
        used = {item for each in spread.values() for item in each}
        if not all(_is_among(item, used) for item in items):
            wrong.append(f"{kernel.name} has work-items at {steps} beyond those that run something")
        for item, each in product(items, kernel.statements):
            for iterators in spread[each.name].get(item, ()):
                if (each.name, iterators) in found:
                    wrong.append(f"{each.name} at {iterators} runs twice")
                found[each.name, iterators] = Place(number, item, _time(each, iterators))
    names = {each.place: each.name for each in nest.statements}
    expected = {(names[each.place], each.iterators) for each in executed}
    wrong += [f"{each} does not run" for each in expected - {*found}]
    wrong += [f"{each} runs, but not in C" for each in {*found} - expected]
    for kind, related in pairs([*executed]).items():
        for one, two in related:
            source, sink = ((names[each.place], each.iterators) for each in (one, two))
            if source in found and sink in found and source != sink and not _is_kept(found[source], found[sink]):
                wrong.append(f"{kind}: {source} is not before {sink}")
    return wrong


def _is_kept(source: Place, sink: Place) -> bool:
    if source.launch != sink.launch:
        return source.launch < sink.launch
    return source.item == sink.item and source.time < sink.time


def _is_among(item: Sequence[int], used: Collection[tuple[int, ...]]) -> bool:
    """Return True for a work-item between others along each dimension."""
    along = list(zip(*used, strict=True))
    return bool(used) and all(min(each) <= here <= max(each) for here, each in zip(item, along, strict=True))


def _let_in(text: KernelText, global_size: Sequence[int], values: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
    """The places of the work-items of a launch that a kernel's guard lets in."""
    # Of two versions that without lanes.
    alone = text.text.rpartition("#else\n")[2].removesuffix("#endif\n")
    for ids in product(*map(range, global_size)):
        known = {**values}
        for name, dimension, offset in _ID.findall(alone):
            known[name] = ids[int(dimension)] + (_value(offset, values) if offset else 0)
        if _is_let_in(alone, known):
            yield tuple(known[name] for name in text.kernel.dimensions)


def _is_let_in(text: str, known: Mapping[str, int]) -> bool:
    """Whether the test around a kernel's body holds, where there is one."""
    lines = text.splitlines()
    guard = _GUARD.fullmatch(next((line for line in lines if line.startswith("    if (")), ""))
    if guard is None or lines[-2] != "    }":
        return True
    return bool(_value(guard[1], known))


def _value(text: str, known: Mapping[str, int]) -> int:
    python = text.replace("&&", " and ").replace("||", " or ").replace("/", "//")
    assert re.fullmatch(r"[\w\s+\-*/%()<>=!,]+", python), text
    return int(eval(python, {"min": min, "max": max}, {**known}))


def _time(statement: Statement, iterators: Sequence[int]) -> tuple[int, ...]:
    """When an instance runs in its work-item: as its loops and its place in the text say."""
    found = [statement.position[0]]
    for loop, value, position in zip(statement.loops, iterators, statement.position[1:], strict=True):
        found += [value if loop.step > 0 else -value, position]
    return tuple(found)


def _by_place(
    relation: isl.Map, values: Mapping[str, int], at: tuple[int, ...]
) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """The instances of a launch by their places, at values of parameters and steps."""
    for name, value in values.items():
        number = relation.find_dim_by_name(isl.dim_type.param, name)
        if number >= 0:
            relation = relation.fix_val(isl.dim_type.param, number, isl.Val(value))
    for number, value in enumerate(at):
        relation = relation.fix_val(isl.dim_type.out, number, isl.Val(value))
    split = relation.dim(isl.dim_type.in_)
    count = split + relation.dim(isl.dim_type.out)
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}

    def collect(point: isl.Point) -> None:
        every = [int(point.get_coordinate_val(isl.dim_type.set, place).to_python()) for place in range(count)]
        found.setdefault(tuple(every[split + len(at) :]), []).append(tuple(every[:split]))

    relation.wrap().foreach_point(collect)
    return found
