"""The versions of a reduction and what chooses one of them, as a tuned file has it: before tuning, and as tuning
is told to look for it.

    n ─▶ few elements: one work-group, one launch
      ─▶ many: GROUPS work-groups, then one that combines their results

Tuning measures; what stands here is where to begin. It is from measurements, which `docs/how-to/reduce.md` has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import pyopencl
from pyopencl.tools import ScalarArg, VectorArg, dtype_to_ctype

from coarsen.base.version import __version__
from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.tree import Leaf, Split, Tree
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.frontend.source_text import hash_with_headers
from coarsen.stream.reduction_text import (
    FINISH,
    KERNEL,
    OPTIONS,
    PARAMETERS,
    PINNED,
    RESULT,
    Operation,
    numbers_of,
)
from coarsen.variant.variant import Variant

BUFFER, OFFSET = f"{RESULT}__base", f"{RESULT}__offset"
PARTS = "reduce_parts"
Values = Mapping[str, int]


def arguments_of(operation: Operation) -> tuple[KernelArgument, ...]:
    """Return what the kernel takes: an array is a buffer and an offset in bytes."""
    found = []
    for each in operation.arguments:
        if isinstance(each, VectorArg):
            found.append(KernelArgument(f"{each.name}__base", ArgumentKind.BUFFER))
            found.append(KernelArgument(f"{each.name}__offset", ArgumentKind.WHOLE))
        else:
            found.append(KernelArgument(each.name, kind_of(each)))
    found += [KernelArgument(name, ArgumentKind.WHOLE) for name in operation.sizes]
    return (*found, KernelArgument(BUFFER, ArgumentKind.BUFFER), KernelArgument(OFFSET, ArgumentKind.WHOLE))


def kind_of(argument: ScalarArg | VectorArg) -> ArgumentKind:
    """Return what a user's argument is to a tuned file."""
    if isinstance(argument, VectorArg):
        return ArgumentKind.BUFFER
    return ArgumentKind.REAL if argument.dtype.kind == "f" else ArgumentKind.WHOLE


def version_of(operation: Operation, values: Values, *, is_pinned: bool = False) -> TunedVersion:
    """Return a version of a reduction.

    Args:
        operation: what is reduced.
        values: of the macros; the source's own for those that are not there.
        is_pinned: whether it is a version of a reproducible reduction.
    """
    chosen = {name: each[0] for name, each in (PINNED if is_pinned else PARAMETERS).items()} | dict(values)
    groups, local = chosen["GROUPS"], chosen["LOCAL"]
    varying = operation.parameters(is_pinned=is_pinned)
    definitions = tuple((name, str(value)) for name, value in chosen.items() if name in varying)
    variant, rows = Variant((local,), definitions=definitions), operation.rows or "1"
    if chosen["FORM"]:
        return TunedVersion(variant, (TunedLaunch(KERNEL, (_ROUNDED.format(rows=rows, local=local),)),))
    first = (f"{rows} * {groups * local}",)
    if groups == 1:
        return TunedVersion(variant, (TunedLaunch(KERNEL, first),))
    names = tuple(each.name for each in arguments_of(operation))
    return TunedVersion(
        variant,
        (
            TunedLaunch(KERNEL, first, arguments=(*names[:-2], PARTS, "long: 0")),
            TunedLaunch(FINISH, (f"{rows} * {local}",), arguments=(PARTS, *names[-2:])),
        ),
        ((PARTS, f"{rows} * {groups * operation.part_bytes}"),),
    )


# The work-items where each has a row, in whole work-groups.
_ROUNDED = "({rows} + {local} - 1) // {local} * {local}"


def default_file(operation: Operation, text: str, device: pyopencl.Device, *, is_pinned: bool) -> TunedFile:
    """Return what chooses before anything is tuned.

    Args:
        operation: what is reduced.
        text: its kernels.
        device: where.
        is_pinned: whether all versions combine elements in one order.
    """
    units, is_gpu = int(device.max_compute_units), bool(device.type & pyopencl.device_type.GPU)
    choices, tree = _for_gpu(operation, units) if is_gpu else _for_cpu(operation, units, device)
    if is_pinned:
        choices, tree = [{name: each[-1] for name, each in PINNED.items()}], Leaf(int(is_gpu))
    versions = [version_of(operation, each, is_pinned=is_pinned) for each in ({}, *choices)]
    arguments = arguments_of(operation)
    return file_for(device, text, KERNEL, arguments, operation.sizes, versions, tree)


def with_more_versions(file: TunedFile, operation: Operation) -> TunedFile:
    """Return a tuned file with versions beside those that its tree chooses, for a search.

    Args:
        file: as `default_file` returns it.
        operation: what is reduced.
    """
    shapes = ((1, 1), (1, 8), (1, 64), (16, 4), (32, 1), (256, 4))
    tried: list[Values] = [
        {"GROUPS": groups, "LOCAL": local, "LANES": lanes, "ACCESS": access}
        for groups, (local, lanes), access in product((1, 16, 256), shapes, (0, 1))
        # Work-groups of one work-item have no neighbours whose accesses would be combined.
        if not access or (groups > 1 and local > 1)
    ]
    if operation.rows:
        by_item = product((32, 256), (1, 4, 8))
        tried += [{"FORM": 1, "LOCAL": local, "LANES": lanes} for local, lanes in by_item]
    more = (version_of(operation, each) for each in tried)
    return replace(file, versions=tuple(dict.fromkeys((*file.versions, *more))))


def file_for(
    device: pyopencl.Device,
    source: str,
    kernel: str,
    arguments: Sequence[KernelArgument],
    sizes: Sequence[str],
    versions: Sequence[TunedVersion],
    tree: Tree,
) -> TunedFile:
    """Return a tuned file that was not tuned.

    Args:
        device: that it is for.
        source: the text of the kernels.
        kernel: the name of the main one.
        arguments: of that.
        sizes: the arguments that the tree may ask for.
        versions: those in the file, the default one first.
        tree: what chooses among them.
    """
    return TunedFile(
        kernel=kernel,
        arguments=tuple(arguments),
        source_hash=hash_with_headers(source, OPTIONS),
        device=device.name.strip(),
        driver=device.driver_version.strip(),
        build_options=OPTIONS,
        coarsen_version=__version__,
        features=tuple(Feature(name, name) for name in sizes),
        versions=tuple(versions),
        default=0,
        tree=tree,
    )


def _for_cpu(operation: Operation, units: int, device: pyopencl.Device) -> tuple[list[Values], Tree]:
    """Return versions for a CPU beside the source's own, which is one work-item with 8 lanes, and a tree.

    Compilers that make vectors of work-items, such as Intel's, have a preferred width of 1: a group of 16 then is
    a vector, whatever the operator. A sum of one work-item they make vectors of as well: it needs no barriers, and
    reads elements a fifth to a third faster where they come from memory. Others, such as PoCL's, make vectors of
    lanes, several at once of 64.

    Args:
        operation: what is reduced.
        units: the compute units.
        device: where.
    """
    choices: list[Values] = [{}]

    def version(values: Values) -> Leaf:
        if values not in choices:
            choices.append(values)
        return Leaf(choices.index(values))

    length, rows, of_items = operation.length, operation.rows, device.preferred_vector_width_float == 1
    one: Values = {"LOCAL": 16, "LANES": 4} if of_items else {} if operation.finds_place else {"LANES": 64}
    # What adds up vectors is made none of.
    is_sum = _SUM.fullmatch(operation.operator) is not None and numbers_of(operation.dtype)[1] == 1
    # Of rows one version fewer: a table has five at most.
    several = max(_at_least(2 * units), _MANY_GROUPS * bool(rows))
    arrays = [each.dtype.itemsize for each in operation.arguments if isinstance(each, VectorArg)]
    few = (_FEW_PLACES_ON_CPU if operation.finds_place else _FEW_ON_CPU) // sum(arrays)
    tree: Tree = Split(length, few, version(one), version({**one, "GROUPS": several}))
    if rows:
        narrow: Values = {"FORM": 1, "LOCAL": 32, "LANES": 4 if of_items else 8}
        broad, wide, long = {**narrow, "LOCAL": 256}, _WIDE_GROUPS * 256 * units, _LONG_ON_CPU
        medium: Tree
        by_item: Tree
        if of_items and not operation.finds_place:
            medium = version({"LANES": 1} if is_sum else {})
            by_item = Split(length, _SHORT_ON_CPU, version(broad), medium)
            long = long // 4 if not is_sum else long if len(arrays) == 1 else 16 * long
        else:
            medium = Split(length, long // 4, version(narrow), version(one))
            by_item = Split(rows, wide, version(narrow), version(broad))
            if of_items:
                long //= 4
            else:
                by_item = Split(length, _SHORT_ON_CPU, version({**broad, "LANES": 1}), by_item)
        shorter = Split(rows, 32 * units, medium, by_item)
        tree = Split(rows, units // 2, tree, Split(length, long, shorter, version(one)))
    most: Tree = version({**one, "GROUPS": max(several, _MANY_GROUPS)})
    if of_items and is_sum:
        most = Split(length, _CACHED_ON_CPU // sum(arrays), most, version({"GROUPS": _MOST_GROUPS}))
    return choices[1:], Split(length, _MANY_ON_CPU, tree, most)


def _at_least(groups: int) -> int:
    """Return the least number of work-groups that there may be from one on; the largest if none is."""
    return next((each for each in PARAMETERS["GROUPS"] if each >= groups), PARAMETERS["GROUPS"][-1])


def _for_gpu(operation: Operation, units: int) -> tuple[list[Values], Tree]:
    """Return versions for a GPU beside the source's own, which is too narrow for it, and a tree.

    Args:
        operation: what is reduced.
        units: the compute units.
    """
    one: Values = {"LOCAL": 256, "LANES": 4}
    several: Values = {**one, "GROUPS": _at_least(4 * units), "ACCESS": 1}
    tree: Tree = Split(operation.length, _FEW_ON_GPU, Leaf(1), Leaf(2))
    if not operation.rows:
        return [one, several], tree
    shared: Values = {**several, "GROUPS": 64}
    narrow: Values = {"LOCAL": 32, "LANES": 1}
    by_item: Values = {"FORM": 1, "LOCAL": 32, "LANES": 1}
    few = Split(operation.rows, 4, tree, Split(operation.length, _FEW_ON_GPU, Leaf(1), Leaf(3)))
    narrower = Split(operation.length, _NARROW_ON_GPU, Leaf(4), Leaf(1))
    many = Split(operation.length, _SHORT_ON_GPU, Leaf(5), narrower)
    return [one, several, shared, narrow, by_item], Split(operation.rows, 2 * units, few, many)


# The number of elements up to which a work-item of a large group should have a row for itself, of many.
_SHORT_ON_CPU, _SHORT_ON_GPU = 40, 128
# Beyond so many a work-group should have a row. Where vectors are of work-items: beyond a quarter for what is no
# sum, and beyond 16 times as many for sums of several arrays, which take longer to read than to add. Where vectors
# are of lanes: beyond a quarter of few rows.
_LONG_ON_CPU = 1 << 11
# What a compiler may regroup.
_SUM = re.compile(r"\s*a\s*[+*]\s*b\s*")
# That up to which 32 work-items are enough for a row.
_NARROW_ON_GPU = 1024
# Up to so many bytes of all arrays (on a GPU, elements) one work-group is faster than several and a second launch.
_FEW_ON_CPU, _FEW_PLACES_ON_CPU, _FEW_ON_GPU = 1 << 21, 1 << 19, 1 << 17
# That down to which rows are tuned for: points in space.
_SHORTEST = 3
# A CPU's work-group takes as long to start as some thousand elements: items are in as few as keep units busy.
_WIDE_GROUPS = 8
# Beyond so many elements there are at least so many work-groups: shorter sums have smaller errors.
_MANY_ON_CPU, _MANY_GROUPS = 1 << 21, 64
# More bytes than caches hold; the work-groups for them, of one work-item each.
_CACHED_ON_CPU, _MOST_GROUPS = 1 << 25, 1024


def description_of(operation: Operation, file: str, largest: int, of_all_rows: Mapping[int, bool]) -> str:
    """Return the description of a reduction in TOML.

    Args:
        operation: what is reduced.
        file: the name of the file with its kernels.
        largest: the most elements in all to tune for.
        of_all_rows: by the places of arrays of which the map takes each element, whether those of all rows.
    """
    return "\n".join(_description(operation, file, largest, of_all_rows)) + "\n"


def _description(operation: Operation, file: str, largest: int, of_all_rows: Mapping[int, bool]) -> Iterator[str]:
    length, rows = operation.length, operation.rows
    quoted, by_groups = json.dumps, f"{rows or 1} * GROUPS * LOCAL"
    names = [each.name for each in arguments_of(operation)]
    parts = [*names[:-2], PARTS, f"{PARTS}__offset"]
    yield f"file = {quoted(file)}"
    yield f"kernel = {quoted(KERNEL)}"
    yield f"build_options = {quoted(OPTIONS)}"
    yield f"outputs = [{quoted(BUFFER)}]"
    yield f"roundings = {quoted(length)}"
    # Results of parts that are no fewer than the elements would fill the memory where there are many rows.
    yield f"where = {quoted([*operation.conditions, f'GROUPS <= {length}'])}"
    yield from ("", "[ndrange]", f"global_size = [{quoted(by_groups)}]", 'local_size = ["LOCAL"]')
    ranges, inputs = f"{length} = [64, {largest}]", 24
    if rows:
        # Where one version takes over from another is a line between two sizes, not a point.
        ranges, inputs = f"{length} = [{_SHORTEST}, {largest}], {rows} = [1, {max(1, largest // _SHORTEST)}]", 48
    yield from ("", "[inputs]", f"ranges = {{ {ranges} }}", f"count = {inputs}")
    if rows:
        yield f"limit = {quoted(f'{rows} * {length} <= {largest}')}"
    yield from ("", "[sizes.test]", f"{length} = 3001", *([f"{rows} = 3"] if rows else []))
    by_item = _ROUNDED.format(rows=rows, local="LOCAL")
    whole, several = '"GROUPS == 1"', '"GROUPS > 1"'
    for when, kernel, passed, size in (
        (f'[{whole}, "FORM == 0"]' if rows else whole, KERNEL, names, by_groups),
        *([(f'[{whole}, "FORM == 1"]', KERNEL, names, by_item)] if rows else []),
        (several, KERNEL, parts, by_groups),
        (several, FINISH, [PARTS, *names[-2:]], f"{rows or 1} * LOCAL"),
    ):
        yield from ("", "[[launches]]", f"when = {when}", f"kernel = {quoted(kernel)}")
        yield from (f"arguments = {quoted(passed)}", f"global_size = [{quoted(size)}]")
    for place, each in enumerate(operation.arguments):
        if isinstance(each, VectorArg):
            elements = f"{rows} * {length}" if rows and of_all_rows.get(place, True) else length
            values = "uniform(-1, 1)" if each.dtype.kind == "f" else "integers(0, 100)"
            kind = dtype_to_ctype(each.dtype)
            yield from _table(f"{each.name}__base", buffer=kind, elements=elements, values=values)
            yield from _table(f"{each.name}__offset", scalar="long", value=0)
        else:
            yield from _table(each.name, scalar=dtype_to_ctype(each.dtype), value=1)
    for name in operation.sizes:
        yield from _table(name, scalar="long", value=name)
    yield from _table(BUFFER, buffer=dtype_to_ctype(operation.result_dtype), elements=rows or "1")
    yield from _table(OFFSET, scalar="long", value=0)
    part: dict[str, str | int] = {"buffer": "bytes", "element_bytes": operation.part_bytes}
    if not operation.finds_place:
        part = {"buffer": dtype_to_ctype(operation.dtype)}
    yield from (*_table(PARTS, **part, elements=f"{rows or 1} * GROUPS"), "scratch = true")
    yield from _table(f"{PARTS}__offset", scalar="long", value=0)


def _table(name: str, **entries: str | int) -> Iterator[str]:
    """Yield the lines of an argument's table."""
    yield from ("", "[[arguments]]", f"name = {json.dumps(name)}")
    yield from (f"{key} = {json.dumps(value)}" for key, value in entries.items())
