"""Lines to paste for using a result: a best configuration as a call in a program, and as a command.

factor 4 along dimension 1, local size 16×16 ─▶ coarsen.Program(context, source, factor=4, dim=1)
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.tuning.records.measurement import Measurement
from coarsen.variant.data_layout import AOS
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.padding import NO_PAD
from coarsen.variant.placement import GLOBAL
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant, shape


@dataclass(frozen=True, slots=True)
class Paste:
    """Instructions for using a configuration.

    Attributes:
        python: the call that makes the program; empty where the kernel is to be left as it is.
        command: the command that writes the coarsened source; empty likewise.
        launch: how it is launched, in words.
    """

    python: str
    command: str
    launch: str

    @property
    def lines(self) -> tuple[str, ...]:
        """Return all of it, a line each."""
        return tuple(filter(None, (self.python, self.command, self.launch)))


def paste_of(measurement: Measurement, file: str = "FILE.cl") -> Paste:
    """Return what to paste for the configuration of a measurement.

    Args:
        measurement: any; whether it is worth pasting is for others to say.
        file: the kernel's source, as the command is to name it.
    """
    return paste_of_variant(measurement.candidate, measurement.subject.kernel, file)


def paste_of_variant(variant: Variant, kernel: str, file: str = "FILE.cl") -> Paste:
    """Return what to paste for a variant.

    Args:
        variant: any; without a local size the launch keeps its own.
        kernel: its kernel's name.
        file: the kernel's source, as the command is to name it.
    """
    if variant.is_original:
        at_size = f", at local size {_sizes(variant)}" if variant.local_size else ""
        return Paste("", "", f"leave {kernel} as it is{at_size}")
    return Paste(_python(variant), _command(variant, kernel, file), _launch(variant))


def _python(candidate: Variant) -> str:
    """The call that makes the program; empty for what `coarsen.Program` does not make.

    That is: layouts, arrays in other memory of a kernel that isn't coarsened.
    """
    is_moved = any(plan.moves_fields for plan in candidate.arrays)
    if is_moved or not candidate.is_coarsened:
        return ""
    coarsenings = candidate.coarsenings
    arguments = [
        f"factor={_value([each.factor for each in coarsenings])}",
        f"dim={_value([each.dimension for each in coarsenings])}",
    ]
    strides = [each.stride for each in coarsenings]
    arguments += [f"stride={_value(strides)}"] if set(strides) != {1} else []
    levels = [each.level.value for each in coarsenings]
    arguments += [f"level={_value(levels)}"] if candidate.merges_groups else []
    arguments += [f"{name}={value!r}" for name, value in _other_transforms(candidate.transforms)]
    plans = ", ".join(map(_plan_call, candidate.arrays))
    arguments += [f"arrays=[{plans}]"] if plans else []
    options = [f"-D{name}={value}" for name, value in candidate.definitions]
    build = f".build({options!r})" if options else ""
    return f"coarsen.Program(context, source, {', '.join(arguments)}){build}"


def _plan_call(plan: ArrayPlan) -> str:
    """The call that makes the plan of a place or a pad."""
    words = [repr(plan.argument)]
    words += [f"place={str(plan.place)!r}"] if plan.place is not GLOBAL else []
    words += [f"shape={list(plan.shape)}"] if plan.shape is not None else []
    words += [f"pad={str(plan.pad)!r}"] if plan.pad != NO_PAD else []
    return f"coarsen.array_plan({', '.join(words)})"


def _other_transforms(transforms: Transforms) -> Iterator[tuple[str, str | bool]]:
    """The transforms that are not the default, and their values."""
    for name, value in transforms.changes.items():
        yield name, value if isinstance(value, bool) else str(value)


def _value(values: Sequence[int | str]) -> str:
    return repr(values[0]) if len(values) == 1 else repr(tuple(values))


def _command(candidate: Variant, kernel: str, file: str) -> str:
    words = ["coarsen", "apply", file, "--kernel", kernel]
    coarsenings = candidate.coarsenings
    strided = any(coarsening.stride != 1 for coarsening in coarsenings)
    for coarsening in coarsenings:
        words += ["--factor", str(coarsening.factor), "--dim", str(coarsening.dimension)]
        words += ["--stride", str(coarsening.stride)] if strided else []
        words += ["--level", coarsening.level.value] if candidate.merges_groups else []
    words += () if coarsenings else ("--factor", "1")
    words += _transform_words(candidate)
    for plan in candidate.arrays:
        words += _array_words(plan)
    for name, value in candidate.definitions:
        words += ["-D", f"{name}={value}"]
    return shlex.join(words)


def _transform_words(candidate: Variant) -> Iterator[str]:
    for name, value in _other_transforms(candidate.transforms):
        option = f"--{name.replace('_', '-')}"
        flag = option if value else f"--no-{option.removeprefix('--')}"
        yield from (option, value) if isinstance(value, str) else (flag,)
    if candidate.any_size:
        yield "--any-size"


def _array_words(plan: ArrayPlan) -> Iterator[str]:
    if plan.layout != AOS:
        yield from ("--layout", f"{plan.argument}={plan.layout}")
    if plan.order is not None:
        yield from ("--order", f"{plan.argument}={plan.order}")
    if plan.shape is not None:
        yield from ("--shape", f"{plan.argument}={','.join(map(str, plan.shape))}")
    if plan.place is not GLOBAL:
        yield from ("--place", f"{plan.argument}={plan.place}")
    if plan.pad != NO_PAD:
        yield from ("--pad", f"{plan.argument}={plan.pad}")


def _launch(candidate: Variant) -> str:
    sizes = f"global size and local size {_sizes(candidate)}" if candidate.local_size else "global and local size"
    packed = " and ".join(plan.argument for plan in candidate.arrays if plan.moves_fields)
    first = f"pack {packed} as the command says (coarsen.Layout), and " if packed else ""
    return f"{first}launch it with the original {sizes}"


def _sizes(candidate: Variant) -> str:
    return shape(candidate.local_size)
