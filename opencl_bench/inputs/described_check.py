"""Checks of a description before anything is measured: its kernels' arguments, and its parameters.

A tuned file may define what its kernel's source declares by pragmas, and nothing else: so parameters that only the
description declares, or values that the source does not, would make a file that no program takes.

A parameter without effect would multiply the versions, all of them the same: most often its macro is spelled
otherwise in the source. It counts as effect that a value changes the code, a launch, or an argument. Values are
compared with each other with the other parameters at their defaults, and where that shows nothing, with every
value of every other one: what only one implementation knows has an effect there.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.frontend.annotations import read_annotations
from coarsen.frontend.lower import assembly_of, compile_source
from coarsen.frontend.parameters import Parameter
from coarsen.frontend.source_text import opencl_c_of
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions
from coarsen.opencl_bench.workloads.described.check_signature import check_kernel_of
from coarsen.opencl_bench.workloads.described.description import Description
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description

# Places in the source, which values of macros may move.
_METADATA = re.compile(r", !dbg !\d+|^!\d+ = .*DI[A-Z].*$|^\s*#dbg_.*$", re.MULTILINE)


def check_described(path: Path) -> tuple[str, ...]:
    """Check a description with its kernels.

    Args:
        path: of the TOML file.

    Returns:
        A line for each declaration of the source that the file replaces.

    Raises:
        InvalidInputError: a mistake, arguments that aren't the kernel's, a parameter that its source doesn't
            declare, or one without effect.
    """
    check_kernel_of(path)
    description = read_description(path)
    check_declared(description)
    check_launches(description)
    check_effects(description, read_benchmark(path))
    return description.parameters.overridden


def check_declared(description: Description) -> None:
    """Check that the source declares what versions define, and builds without being told.

    Raises:
        InvalidInputError: a parameter or a value that the source doesn't declare; a source that needs `-D`.
    """
    if not description.tunables:
        return
    file = description.kernel_file
    source = opencl_c_of(file)
    declared = () if source is None else read_annotations(source, str(file)).parameters
    known = {each.name: each for each in declared}
    for name, values in description.tunables.items():
        if name not in known:
            raise InvalidInputError(
                f"{description.path}: {name} is no parameter of the source, and a program takes no other macros "
                f'from a tuned file: declare it in {file.name}, "#pragma coarsen values {",".join(values[:3])}" '
                "above its #define"
            )
        if others := [value for value in values if value not in known[name].values]:
            raise InvalidInputError(
                f"{description.path}: {name} = {others[0]} is no value that the source declares, at "
                f"{known[name].place}, and a program takes no other from a tuned file: declare it there"
            )
    try:
        compile_source(file, description.build_options)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{file}: it doesn't compile without -D, so that no version is the one without tuning: give each "
            f"parameter a #define with its default ({error})"
        ) from None


def check_launches(description: Description) -> None:
    """Check that parameters alone decide which launches a version makes: no size is known before a launch.

    Raises:
        InvalidInputError: a condition of a launch names something else.
    """
    for number, launch in enumerate(description.launches):
        for condition in launch.conditions:
            if others := sorted(condition.names - {*description.tunables}):
                raise InvalidInputError(
                    f"{description.path}: launches[{number}].when: '{condition.text}' names '{others[0]}', which "
                    "is no parameter; versions of a kernel that is tuned over inputs differ by parameters alone"
                )


def check_effects(description: Description, benchmark: Benchmark) -> None:
    """Check that every parameter has an effect. Raises InvalidInputError, with the place of one that has none."""
    effects = _Effects(benchmark)
    for parameter in description.parameters.parameters:
        if len(parameter.values) > 1 and not effects.has(parameter, description.parameters.parameters):
            raise InvalidInputError(
                f"{parameter.place}: {parameter.name} has no effect: no two of its values, "
                f"{', '.join(map(parameter.value_of, parameter.values))}, differ in code, launch or arguments"
            )


class _Effects:
    """What becomes of macro values, each found out once."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._preset = next(iter(benchmark.presets))
        self._known: dict[Definitions, tuple[str, str | None]] = {}

    def has(self, parameter: Parameter, others: tuple[Parameter, ...]) -> bool:
        """Return True if two values of a parameter differ in anything."""
        for setting in _settings(parameter, others):
            made = [self._of({**setting, parameter.name: value}) for value in parameter.values]
            codes, launches = {code for code, _ in made}, {launch for _, launch in made if launch is not None}
            if len(codes) > 1 or len(launches) > 1:
                return True
        return False

    def _of(self, values: dict[str, str]) -> tuple[str, str | None]:
        definitions = tuple(sorted({**dict(self._benchmark.own_definitions), **values}.items()))
        if definitions not in self._known:
            self._known[definitions] = (self._code(definitions), self._launches(definitions))
        return self._known[definitions]

    def _code(self, definitions: Definitions) -> str:
        options = [*self._benchmark.build_options, *(f"-D{name}={value}" for name, value in definitions)]
        try:
            return _METADATA.sub("", assembly_of(self._benchmark.code, options))
        except CoarsenError as error:
            return str(error)

    def _launches(self, definitions: Definitions) -> str | None:
        """The launches with their arguments as a text; None where a condition rules the values out."""
        tied = self._benchmark.local_size_of
        try:
            local_size = tied(definitions) if tied is not None else None
            # It has the types of scalars, too.
            return repr(self._benchmark.launches(self._preset, local_size, definitions))
        except CoarsenError:
            return None


def _settings(parameter: Parameter, others: tuple[Parameter, ...]) -> Iterator[dict[str, str]]:
    """The values of other parameters at which a parameter is looked at: their defaults, then each other value."""
    yield {}
    for other in others:
        if other.name != parameter.name:
            yield from ({other.name: value} for value in itertools.islice(other.values, 1, None))
