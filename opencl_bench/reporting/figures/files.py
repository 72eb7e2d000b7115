"""A figure as the bytes of a PNG, SVG or PDF file: the same figure gives the same bytes."""

from __future__ import annotations

import io
from copy import deepcopy
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from coarsen.errors import InvalidInputError
from coarsen.files import replace_file
from coarsen.opencl_bench.reporting.figures.style import styled

FileType = Literal["png", "svg", "pdf"]
_CANVAS = MappingProxyType({"png": FigureCanvasAgg, "svg": FigureCanvasSVG, "pdf": FigureCanvasPdf})
# The metadata that Matplotlib would write: its version and the date.
_METADATA = MappingProxyType(
    {
        "png": {"Software": None},
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
)


def file_type(path: Path) -> FileType:
    """The type that a file's name asks for. Raises InvalidInputError for any other than .png, .svg and .pdf."""
    ending = path.suffix.removeprefix(".").lower()
    for known in get_args(FileType):
        if ending == known:
            return ending  # type: ignore[return-value]
    raise InvalidInputError(f"{path}: a figure's file ends in .png, .svg or .pdf")


def rendered(figure: Figure, kind: FileType, resolution: int | None = None) -> bytes:
    """The figure as a file's content.

    Args:
        figure: it stays as it is.
        kind: of the file.
        resolution: of a PNG, in dots per inch; that of print if None.
    """
    buffer = io.BytesIO()
    with styled():
        # Of a copy: to be written at another resolution leaves rounding errors in a figure.
        canvas = _CANVAS[kind](deepcopy(figure))
        canvas.print_figure(buffer, format=kind, dpi=resolution, metadata=dict(_METADATA[kind]))
    return buffer.getvalue()


def save(figure: Figure, path: Path) -> None:
    """Write the figure to a file.

    Args:
        figure: from any of the drawing functions.
        path: of the file; its name ends in .png, .svg or .pdf.

    Raises:
        InvalidInputError: the name ends otherwise, or the file can't be written.
    """
    replace_file(rendered(figure, file_type(path)), path)
