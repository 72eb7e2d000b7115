"""Parameters and features of a described kernel: those of its source's pragmas and of its file, which wins.

[parameters]
BLKSZ = "erange 64,512,2"        # the default is the source's #define, else the first
ROWS = [1, 2, 4]
IMPL = "select rows,lanes"       # words that the source defines as numbers

where = ["BLKSZ % ROWS == 0"]    # before the first table

[features]                       # what one of its versions is chosen by, of a launch's arguments
aspect = "log2(height / width)"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.dispatch.expressions import Condition, parse_condition
from coarsen.dispatch.features import Feature, KernelArgument, feature_steps, input_kinds
from coarsen.dispatch.steps import Kind as NumberKind
from coarsen.errors import InvalidInputError
from coarsen.frontend.annotations import (
    Annotations,
    Declaration,
    code_lines,
    define_of,
    defined_words,
    prepared_source,
)
from coarsen.frontend.parameters import Kind, Parameter, parse_parameter
from coarsen.opencl_bench.workloads.described.table import Table, is_number

KEY = "parameters"
FEATURES = "features"


@dataclass(frozen=True, slots=True)
class KernelParameters:
    """The parameters of a kernel, and what goes with them.

    Args:
        parameters: the source's first, in its order.
        conditions: what must hold of them.
        source: the text that is compiled, with `-D` for each of them; empty where the file is, as it stands.
        overridden: a line for each declaration of the source that the file replaces.
    """

    parameters: tuple[Parameter, ...] = ()
    conditions: tuple[Condition, ...] = ()
    source: str = ""
    overridden: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """The values of each, by its name."""
        return {each.name: each.values for each in self.parameters}

    @property
    def selects(self) -> tuple[Parameter, ...]:
        """Return those that choose between implementations."""
        return tuple(each for each in self.parameters if each.kind is Kind.SELECT)


NO_PARAMETERS = KernelParameters()


def read_parameters(top: Table, source: str, annotations: Annotations, file: Path) -> KernelParameters:
    """Read the parameters of a kernel.

    Args:
        top: the outermost table of its description.
        source: the kernel's file's text.
        annotations: its pragmas.
        file: the kernel's file, as messages name it.

    Raises:
        InvalidInputError: a mistake in one of them, in one line that names its place.
    """
    own = {each.name: each for each in annotations.parameters}
    told = {each.name: each for each in _told(top.table(KEY), source, own, str(file))}
    parameters = tuple({**own, **told}.values())
    if not parameters and not annotations.pragmas:
        return NO_PARAMETERS
    return KernelParameters(
        parameters,
        _conditions(top, annotations, [each for each in parameters if each.labels]),
        prepared_source(source, parameters, annotations.pragmas, str(file)),
        tuple(_overridden(own, told)),
    )


def _told(table: Table, source: str, own: Mapping[str, Parameter], file: str) -> Iterator[Parameter]:
    """The parameters that the file declares, with the source's default where that has one."""
    lines = code_lines(source) if table.values else []
    defined = defined_words(lines)
    for name, value in table.values.items():
        place = f"{table.path}: {table.key_of(name)}"
        parameter = parse_parameter(name, _text(table, name, value), place, defined)
        define = define_of(name, lines, file)
        if define is not None:
            parameter = parameter.with_default(define.value or "")
        declared = own.get(name)
        if declared is not None and declared.kind is not Kind.MACRO:
            # What the pragma stands above or compares with is the source's.
            parameter = replace(parameter, kind=declared.kind, labels=parameter.labels or declared.labels)
        yield parameter


def _text(table: Table, name: str, value: object) -> str:
    """Return what the grammar has for a value: an array is `values`."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value or not all(isinstance(v, str) or is_number(v) for v in value):
        raise table.error(name, f'it must be a text such as "erange 64,512,2" or an array, not {value!r}')
    return f"values {','.join(map(str, value))}"


def _conditions(top: Table, annotations: Annotations, selects: Sequence[Parameter]) -> tuple[Condition, ...]:
    """The conditions of the source; those of the file instead where it has any."""
    if top.has("where"):
        return top.parse_texts("where", lambda text: condition(text, selects))
    found = []
    for each in annotations.conditions:
        try:
            found.append(condition(each.text, selects))
        except InvalidInputError as error:
            raise InvalidInputError(f"{each.place}: {error}") from None
    return tuple(found)


def condition(text: str, selects: Sequence[Parameter]) -> Condition:
    """Read a condition, in which a select may be compared with the name of an implementation.

    Raises:
        InvalidInputError: it is none.
    """
    for select in selects:
        text = select.numbered(text)
    return parse_condition(text)


def _overridden(own: Mapping[str, Parameter], told: Mapping[str, Parameter]) -> Iterator[str]:
    for name in (name for name in own if name in told):
        yield f"{told[name].place}: it takes the place of the pragma at {own[name].place}"


def read_features(
    top: Table, declared: Sequence[Declaration], arguments: Sequence[KernelArgument]
) -> tuple[Feature, ...]:
    """Read the features of a kernel: those of its source's pragmas, and of its file, which wins.

    Args:
        top: the outermost table of its description.
        declared: by pragmas.
        arguments: of the kernel.

    Raises:
        InvalidInputError: a mistake in one of them, in one line that names its place.
    """
    table = top.table(FEATURES)
    kinds = input_kinds(arguments) if declared or table.values else {}
    found: dict[str, Feature] = {}
    for each in declared:
        try:
            found[each.name] = _feature(each.name, each.text, kinds)
        except InvalidInputError as error:
            raise InvalidInputError(f"{each.place}: {error}") from None
    for name, value in table.values.items():
        try:
            found[name] = _feature(name, value, kinds)
        except InvalidInputError as error:
            raise table.error(name, str(error)) from None
    return tuple(found.values())


def _feature(name: str, expression: object, kinds: Mapping[str, NumberKind]) -> Feature:
    if not isinstance(expression, str):
        raise InvalidInputError(f'it must be a text such as "log2(height / width)", not {expression!r}')
    feature = Feature(name, expression)
    feature_steps(feature, kinds)
    return feature
