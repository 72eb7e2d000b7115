"""`coarsen explore --inputs`: the figure of a tuned file's versions over the input, or its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from coarsen.cli.messages import note
from coarsen.cli.output import Format, print_json
from coarsen.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class InputsFigure:
    """What a person asks for.

    Args:
        file: the tuned file.
        feature: along which the inputs are; None for the usual one.
        output: where the figure goes; None for nowhere.
        show: whether a window opens.
    """

    file: Path
    feature: str | None
    output: Path | None
    show: bool


def draw_inputs(wanted: InputsFigure, others: Sequence[str], output_format: Format) -> None:
    """Draw the figure, or print its numbers.

    Args:
        wanted: the figure.
        others: options that are given and have no say here.
        output_format: JSON for the numbers.

    Raises:
        InvalidInputError: other options, no place for the figure, no such file or feature.
    """
    if others:
        raise InvalidInputError(f"--inputs is a figure of its own: leave out {', '.join(others)}")
    if wanted.output is None and not wanted.show and output_format is Format.TABLE:
        raise InvalidInputError("no output given: use -o FILE or --show")
    # Imported late: they load matplotlib.
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.opencl_bench.reporting.draw_input_times import draw_input_times
    from coarsen.opencl_bench.reporting.input_times import input_times
    from coarsen.opencl_bench.reporting.sheet import file_type, save, show

    if wanted.output is not None:
        file_type(wanted.output)
    file = TunedFile.read(wanted.file)
    if output_format is Format.JSON:
        print_json(asdict(input_times(file, wanted.feature)))
    if wanted.output is None and not wanted.show:
        return
    figure = draw_input_times(file, wanted.feature)
    if wanted.output is not None:
        save(figure, wanted.output)
        note(f"written: {wanted.output}")
    if wanted.show:
        show([figure])
