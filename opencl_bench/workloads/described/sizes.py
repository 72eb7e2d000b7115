"""The sizes of a described kernel by presets: those of the file, and those of the list of inputs beside it."""

from __future__ import annotations

from coarsen.opencl_bench.workloads.benchmark import LocalSize
from coarsen.opencl_bench.workloads.described.inputs import listed_inputs
from coarsen.opencl_bench.workloads.described.ndrange import local_size
from coarsen.opencl_bench.workloads.described.table import Table
from coarsen.opencl_bench.workloads.input_space import PREFIX, InputSpace

LOCAL_SIZE_PREFIX = "local_size_"
# In a preset, the local size that its launches have there.
LOCAL_SIZE = "local_size"


def read_sizes(top: Table, space: InputSpace | None) -> dict[str, dict[str, int]]:
    """Read the sizes of each preset.

    Args:
        top: the outermost table.
        space: the inputs that the file declares, if any.

    Raises:
        InvalidInputError: a size that is none, no preset, or a list that is none of these inputs.
    """
    presets = top.table("sizes")
    if not presets.values:
        raise top.error("sizes", "there must be at least one preset: [sizes.test]")
    settings = frozenset(space.contents[0]) if space is not None else frozenset()
    sizes = {name: _preset(presets.table(name), settings) for name in presets.values}
    if space is None:
        return sizes
    for name in sizes:
        if name.startswith(PREFIX):
            raise presets.error(name, f"names that begin with {PREFIX} are those of listed inputs")
    return {**sizes, **listed_inputs(top.path, space)}


def _preset(table: Table, settings: frozenset[str]) -> dict[str, int]:
    sizes = {}
    for name, value in table.values.items():
        if name == LOCAL_SIZE and isinstance(value, list):
            continue
        if not name.isidentifier() or name.startswith(LOCAL_SIZE_PREFIX):
            raise table.error(name, "a size can't be called so")
        least = 0 if name in settings else 1
        if type(value) is not int or value < least:
            raise table.error(name, f"a size is a whole number of at least {least}, not {value!r}")
        sizes[name] = value
    return sizes


def preset_local_sizes(top: Table, default: LocalSize) -> dict[str, LocalSize]:
    """Return the local sizes of presets that have one of their own, by the presets' names.

    Args:
        top: the outermost table.
        default: the local size of `ndrange`.

    Raises:
        InvalidInputError: a local size that is none, or has other dimensions.
    """
    presets = top.table("sizes")
    found = {}
    for table in (presets.table(name) for name in presets.values):
        value = table.values.get(LOCAL_SIZE)
        if isinstance(value, list):
            found[table.key.removeprefix("sizes.")] = local_size(table, LOCAL_SIZE, value, len(default))
    return found
