"""The launches of the thirteen nests keep every dependence; what would not is found."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coarsen.loops.clang_tree import functions_of
from coarsen.loops.kernel_text import KernelText
from coarsen.loops.kernels import NestKernel
from coarsen.loops.launches import LaunchIf, Launching, LaunchLoop, NestLaunch
from coarsen.loops.nest import Statement
from tests.loops.check_order import violations
from tests.loops.executed import Executed, execute
from tests.loops.nests import NESTS
from tests.loops.test_kernels import _INSIDE, made

Launches = tuple[Launching, ...]


@functools.cache
def _executed(name: str, least: int) -> tuple[dict[str, int], list[Executed]]:
    sizes = {size: least + place % 3 for place, size in enumerate(NESTS[name].sizes.split())}
    made(name, "vla")
    (function,) = functions_of(Path(_INSIDE.name, f"{name}_vla", "loops.c"))
    return sizes, execute(function, sizes)


def wrong(name: str, launches: Launches, least: int = 3) -> list[str]:
    sizes, executed = _executed(name, least)
    found = made(name, "vla").with_lanes(1)
    return violations(launches, executed, found.nest, {**sizes, **found.macros})


@pytest.mark.parametrize("least", [1, 4])
@pytest.mark.parametrize("name", NESTS)
def test_launches_keep_every_dependence(name: str, least: int) -> None:
    assert not wrong(name, made(name, "vla").launches, least)


# Mistakes, each of which must be found.


def _each(launches: Launches, change: Callable[[Any], Any]) -> Launches:
    """All launches, loops and conditions changed, what is inside of others first; None leaves one out."""
    found = []
    for each in launches:
        inner = each if isinstance(each, NestLaunch) else replace(each, body=_each(each.body, change))
        changed = change(inner)
        found += [] if changed is None else [changed]
    return tuple(found)


def _of(kind: type, **values: Any) -> Callable[[Any], Any]:  # noqa: ANN401
    def changed(each: Any) -> Any:  # noqa: ANN401
        is_wanted = isinstance(each, kind)
        return replace(each, **values) if is_wanted else each

    return changed


def _kernel(name: str, change: Callable[[NestKernel], NestKernel]) -> Callable[[Any], Any]:
    def changed(each: Any) -> Any:  # noqa: ANN401
        if not isinstance(each, NestLaunch) or each.kernel.kernel.name != name:
            return each
        return replace(each, kernel=replace(each.kernel, kernel=change(each.kernel.kernel)))

    return changed


def _text(right: str, other: str) -> Callable[[Any], Any]:
    def changed(each: Any) -> Any:  # noqa: ANN401
        if not isinstance(each, NestLaunch):
            return each
        assert right in each.kernel.text
        text = KernelText(each.kernel.kernel, each.kernel.text.replace(right, other), each.kernel.arguments)
        return replace(each, kernel=text)

    return changed


def _statements(change: Callable[[int, Statement], Statement]) -> Callable[[NestKernel], NestKernel]:
    return lambda kernel: replace(
        kernel, statements=tuple(change(number, each) for number, each in enumerate(kernel.statements))
    )


def _last_first(launches: Launches) -> Launches:
    return tuple(
        reversed(
            [
                each if isinstance(each, NestLaunch) else replace(each, body=_last_first(each.body))
                for each in launches
            ]
        )
    )


def _as_one(each: Launching) -> Launching:
    """The two kernels of a time step as one."""
    if not isinstance(each, LaunchLoop):
        return each
    first, second = _launches_in(each.body)
    one, two = first.kernel.kernel, second.kernel.kernel
    both = replace(one, statements=(*one.statements, *two.statements), places={**one.places, **two.places})
    return replace(each, body=(replace(first, kernel=replace(first.kernel, kernel=both)),))


def _launches_in(body: Sequence[Launching]) -> list[NestLaunch]:
    return [one for each in body for one in ([each] if isinstance(each, NestLaunch) else _launches_in(each.body))]


def _throughout(change: Callable[[Any], Any]) -> Callable[[Launches], Launches]:
    return lambda launches: _each(launches, change)


def _without(ending: str) -> Callable[[Any], Any]:
    """A launch left out."""
    return lambda each: None if isinstance(each, NestLaunch) and each.kernel.kernel.name.endswith(ending) else each


def _later(number: int, each: Statement) -> Statement:
    """A statement further ahead in the text the later it is."""
    return replace(each, position=(each.position[0], -number, *each.position[2:]))


def _downwards(_: int, each: Statement) -> Statement:
    return replace(each, loops=tuple(replace(loop, step=-1) for loop in each.loops))


def _along_j(kernel: NestKernel) -> NestKernel:
    """The terms of a sum by work-items of their own."""
    return replace(kernel, places={**kernel.places, "S2": ((0, 1),)})


def _unguarded(launches: Launches) -> Launches:
    return _each(_each(launches, _text("if (i < n)", "if (i < n + 1)")), _of(NestLaunch, global_size=("n + 1",)))


PLANTED: dict[str, tuple[str, Callable[[Launches], Launches]]] = {
    "two launches as one": ("jacobi_2d", _throughout(_as_one)),
    "the last launch first": ("gemver", _last_first),
    "the inner launches swapped": ("doitgen", _last_first),
    "every other time step": ("jacobi_2d", _throughout(_of(LaunchLoop, step=2))),
    "a time step too few": ("heat_3d", _throughout(_of(LaunchLoop, end="steps - 1"))),
    "a time step too many": ("fdtd_2d", _throughout(_of(LaunchLoop, end="steps + 1"))),
    "a work-item too few": ("mv", _throughout(_of(NestLaunch, global_size=("n - 1",)))),
    "dimensions swapped": ("mm", _throughout(_of(NestLaunch, global_size=("n", "m")))),
    "a condition that never holds": ("syrk", lambda launches: (LaunchIf(("n > 99",), launches),)),
    "a launch left out": ("fdtd_2d", _throughout(_without("_2"))),
    "another step": ("jacobi_2d", _throughout(_of(NestLaunch, steps={"t": "0"}))),
    "no guard": ("tmv", _unguarded),
    "no offset": ("jacobi_2d", _throughout(_text("get_global_id(0) + 1", "get_global_id(0)"))),
    "a guard that keeps some out": ("mm", _throughout(_text("i < n", "i < n - 1"))),
    "a sum by several work-items": ("mv", _throughout(_kernel("mv", _along_j))),
    "a sum before its first value": ("mv", _throughout(_kernel("mv", _statements(_later)))),
    "a sum from its end": ("tmv", _throughout(_kernel("tmv", _statements(_downwards)))),
}


@pytest.mark.parametrize("mistake", PLANTED)
def test_a_mistake_is_found(mistake: str) -> None:
    name, plant = PLANTED[mistake]
    launches = made(name, "vla").launches
    planted = plant(launches)
    assert planted != launches
    assert wrong(name, planted)
