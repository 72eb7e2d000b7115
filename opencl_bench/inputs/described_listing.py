"""The list of the inputs of a described kernel, drawn from the space in its file."""

from __future__ import annotations

from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.drawing import draw_inputs
from coarsen.opencl_bench.workloads.described.inputs import KEY, list_file
from coarsen.opencl_bench.workloads.described.inputs import read_input_space as space_of
from coarsen.opencl_bench.workloads.described.read import read_table
from coarsen.opencl_bench.workloads.input_space import write_inputs

_ADD = """[inputs] with ranges of the sizes, such as: inputs = { ranges = { n = [16, 1048576] }, count = 24 }"""


def list_inputs(description: Path) -> tuple[Path, bool]:
    """List the inputs of a TOML file beside it, unless they are listed.

    Args:
        description: the TOML file.

    Returns:
        The path of the list, and True where it was written now.

    Raises:
        InvalidInputError: the file declares no inputs, or hardly any sizes are within its limits.
    """
    space = space_of(read_table(description))
    if space is None:
        raise InvalidInputError(f"{description}: {KEY}: it is missing; add {_ADD}")
    path = list_file(description)
    before = path.read_bytes() if path.is_file() else b""
    write_inputs(path, space, draw_inputs(space))
    return path, path.read_bytes() != before
