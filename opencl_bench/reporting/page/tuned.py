"""From tuned files to what the page says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from coarsen.dispatch.tree import Split, nodes, rules
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.evidence import evidence_of, worth_of_choice, worth_of_versions
from coarsen.opencl_bench.reporting.input_times import InputTimes, input_times, section_times
from coarsen.opencl_bench.reporting.page.content import TunedSection, TunedVersionRow

# More say no more: of sections those with the most inputs are kept, of features those that are asked about first.
_MOST_SECTIONS = 4
_MOST_FEATURES = 3


def tuned_sections(paths: Sequence[Path]) -> tuple[TunedSection, ...]:
    """Return the sections of tuned files, in their order.

    Args:
        paths: of the files.

    Raises:
        InvalidInputError: one can't be read or keeps no times, or is given twice.
    """
    if len({path.resolve() for path in paths}) < len(paths):
        raise InvalidInputError("a tuned file is given twice: give each once")
    files = [TunedFile.read(path) for path in paths]
    return tuple(
        _section(file, path, f"tuned-{number}", _name(file, files, path))
        for number, (file, path) in enumerate(zip(files, paths, strict=True))
    )


def _name(file: TunedFile, files: Sequence[TunedFile], path: Path) -> str:
    alike = sum(other.kernel == file.kernel for other in files)
    return file.kernel if alike == 1 else f"{file.kernel} ({path.name})"


def _section(file: TunedFile, path: Path, slug: str, name: str) -> TunedSection:
    try:
        kept = evidence_of(file)
        charts = tuple(_charts(file))
        worths = worth_of_versions(file)
        worth = worth_of_choice(file)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from None
    return TunedSection(
        slug=slug,
        name=name,
        device=f"{file.device}, driver {file.driver}",
        origin=path.name,
        inputs=len(kept.times.inputs),
        groups=len(kept.times.groups),
        tried=len(kept.times.versions),
        margin=kept.margin,
        rules=tuple(rules(file.tree)),
        features=tuple(f"{each.name} = {each.expression or 'supplied by the caller'}" for each in file.features),
        versions=tuple(
            TunedVersionRow(each, str(each.variant), charts[0].roles(each.number) if charts else ())
            for each in worths
        ),
        worth=worth,
        charts=charts,
        is_cold=kept.is_cold,
    )


def _charts(file: TunedFile) -> Iterator[InputTimes]:
    """Sections along sizes; where no size is alone in differing, what the tree asks about as well."""
    sections = sorted(section_times(file), key=lambda times: -len(times.values))
    yield from sections[:_MOST_SECTIONS]
    usual = input_times(file)
    if usual.held is not None and sections:
        return
    asked = dict.fromkeys(node.feature for node in nodes(file.tree) if isinstance(node, Split))
    for feature in list(asked)[:_MOST_FEATURES] or [usual.feature]:
        yield input_times(file, feature)


_DIGITS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def number_text(number: float) -> str:
    """A size or a feature's value: large powers of two as such, `2¹⁶`."""
    value = float(number)
    if value >= 1 << 14 and value.is_integer() and int(value).bit_count() == 1:
        return "2" + str(int(value).bit_length() - 1).translate(_DIGITS)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"
