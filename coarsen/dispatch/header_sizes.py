"""C functions of the sizes of versions: those of a version's launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from coarsen.dispatch.c_text import declarations, statements
from coarsen.dispatch.launch_sizes import LaunchFormulas, launch_formulas
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.variant.coarsening import Coarsening, Level

_DIMENSIONS = 3


def sizes_function(file: TunedFile, number: int) -> str:
    """Return the function of a version's sizes; it returns 0 where they have no value or don't divide.

    That of a version of several launches says that there is no one launch.
    """
    version, name = file.versions[number], file.kernel
    if version.is_sequence:
        lines = [
            f"struct {name}_sequence sequence;",
            "launch->dimensions = 0;",
            f"return {name}_steps_{number}(in, &sequence);",
        ]
        return _function(name, number, lines)
    if not version.launches:
        return _function(name, number, ["(void)in;", *_callers_sizes(version), *_merging(version)])
    formulas = launch_formulas(version, version.launches[0], file.arguments)
    lines, results = statements(formulas.sizes, "return 0;")
    sizes = size_statements(file, formulas, results)
    opening = [*declarations(formulas.sizes), "(void)in;"]
    return _function(name, number, [*opening, *lines, *sizes, *_merging(version)])


def size_statements(file: TunedFile, formulas: LaunchFormulas, results: Sequence[str]) -> Iterator[str]:
    """Enumerate the statements that give `launch` its sizes.

    Args:
        file: the tuned file.
        formulas: of the launch.
        results: the values of `formulas.sizes` in C.
    """
    dimensions, first_memory = len(formulas.global_size), len(formulas.global_size) + len(formulas.local_size)
    yield f"launch->dimensions = {dimensions};"
    for entry in range(dimensions):
        local = results[dimensions + entry] if formulas.local_size else None
        yield from _one_size(entry, results[entry], local)
    if has_local_memory(file):
        for place in range(len(file.arguments)):
            yield f"launch->local_memory[{place}] = 0;"
    for place, value in zip(formulas.memory_places, results[first_memory:], strict=True):
        yield f"if ({value} <= 0 || (uint64_t){value} > SIZE_MAX)"
        yield "    return 0;"
        yield f"launch->local_memory[{place}] = (size_t){value};"


def has_local_memory(file: TunedFile) -> bool:
    """Return True if a launch of the file has local memory of another size than the caller's."""
    return any(launch.local_memory for version in file.versions for launch in version.launches)


def indented(lines: Iterable[str]) -> str:
    """Return lines as they stand in a function."""
    return "".join(f"    {line}\n" for line in lines)


def _function(name: str, number: int, lines: Sequence[str]) -> str:
    return (
        f"static inline int {name}_sizes_{number}(const struct {name}_inputs *in, "
        f"struct {name}_launch *launch)\n{{\n{indented(lines)}}}\n"
    )


def _callers_sizes(version: TunedVersion) -> Iterator[str]:
    """The statements of a version that has the caller's sizes, and maybe a local size of its own."""
    own = version.variant.local_size
    yield f"launch->dimensions = {_DIMENSIONS};"
    for entry in range(_DIMENSIONS):
        whole, local = f"in->global_size_{entry}", f"in->local_size_{entry}"
        if own:
            yield from _one_size(entry, whole, str((*own, *[1] * (_DIMENSIONS - len(own)))[entry]))
        else:
            yield f"if ({local} < 0 || (uint64_t){local} > SIZE_MAX)"
            yield "    return 0;"
            yield from _one_size(entry, whole, None)
            yield f"launch->local_size[{entry}] = (size_t){local};"


def _one_size(dimension: int, whole: str, local: str | None) -> Iterator[str]:
    """The statements of one dimension; a local size of None is the driver's."""
    for value in (whole, *([] if local is None else [local])):
        yield f"if ({value} <= 0 || (uint64_t){value} > SIZE_MAX)"
        yield "    return 0;"
    yield f"launch->global_size[{dimension}] = (size_t){whole};"
    yield f"launch->local_size[{dimension}] = {0 if local is None else f'(size_t){local}'};"


def _merging(version: TunedVersion) -> Iterator[str]:
    for coarsening in version.variant.coarsenings:
        yield from _merged(coarsening)
    yield "return 1;"


def _merged(coarsening: Coarsening) -> Iterator[str]:
    factor, dimension, stride = coarsening.factor, coarsening.dimension, coarsening.stride
    whole, local = f"launch->global_size[{dimension}]", f"launch->local_size[{dimension}]"
    yield f"if ({dimension} >= launch->dimensions || {local} == 0 || {whole} % {local} != 0)"
    yield "    return 0;"
    if coarsening.level is Level.GROUP:
        yield f"if ({whole} / {local} % {factor} != 0)"
        yield "    return 0;"
    else:
        yield f"if ({local} % {factor} != 0 || {local} / {factor} % {stride} != 0)"
        yield "    return 0;"
        yield f"{local} /= {factor};"
    yield f"{whole} /= {factor};"
