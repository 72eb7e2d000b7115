"""Several launches in one description, perhaps of several kernels, with scratch buffers between them.

    [[launches]]                                [[launches]]
    when = "IMPL == one"                        when = "IMPL == two"
                                                kernel = "partial_sums"
                                                arguments = ["partial", "values", "n"]
                                                global_size = ["GROUPS * BLKSZ"]
                                                local_size = ["BLKSZ"]

What an entry leaves out is as the file has it for its kernel: the kernel, all arguments that are not scratch, the
sizes of `ndrange`. The launches whose conditions hold are made in the order of the file, each as often
as its loops say (`repeat`); launches that follow each other and begin with the same loop take turns in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.dispatch.conditions import Condition
from coarsen.frontend.parameters import Parameter
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    LaunchDescription,
)
from coarsen.opencl_bench.workloads.described.loops import parse_loop
from coarsen.opencl_bench.workloads.described.ndrange import NdRange, extents_of
from coarsen.opencl_bench.workloads.described.parameters import condition
from coarsen.opencl_bench.workloads.described.table import Table

KEY = "launches"


def read_launches(
    top: Table,
    kernel: str,
    arguments: Sequence[ArgumentDescription],
    ndrange: NdRange,
    selects: Sequence[Parameter],
) -> tuple[LaunchDescription, ...]:
    """Read the launches of a description; none where it has no such entries.

    Args:
        top: the outermost table.
        kernel: the name of the file's kernel.
        arguments: those of the file.
        ndrange: the file's.
        selects: the parameters that choose between implementations.

    Raises:
        InvalidInputError: a mistake in an entry.
    """
    if not top.has(KEY):
        return ()
    return tuple(_launch(entry, kernel, arguments, ndrange, selects) for entry in top.tables(KEY))


def _launch(
    table: Table,
    kernel: str,
    arguments: Sequence[ArgumentDescription],
    ndrange: NdRange,
    selects: Sequence[Parameter],
) -> LaunchDescription:
    table.check_names("kernel", "when", "arguments", "global_size", "local_size", "repeat")
    name = table.text("kernel") if table.has("kernel") else kernel
    if not name.isidentifier():
        raise table.error("kernel", f"'{name[:60]}' is no name of a kernel")
    global_size = extents_of(table, "global_size") if table.has("global_size") else ndrange.global_size
    local_size = extents_of(table, "local_size") if table.has("local_size") else None
    if local_size is not None and len(local_size) != len(global_size):
        raise table.error("local_size", f"it must have an entry for each of the {len(global_size)} dimensions")
    if local_size is None and len(global_size) != len(ndrange.global_size):
        raise table.error("local_size", f"it is missing: the launch has {len(global_size)} dimensions")
    if name == kernel and local_size is not None:
        raise table.error("local_size", f"that of {kernel}, which may be coarsened, stands in ndrange")
    loops = tuple(table.parse_text("repeat", parse_loop, text) for text in table.texts("repeat"))
    conditions = _conditions(table, selects)
    return LaunchDescription(name, _names(table, arguments), global_size, local_size, conditions, loops)


def _names(table: Table, arguments: Sequence[ArgumentDescription]) -> tuple[str, ...]:
    """The names of a launch's arguments."""
    known = [argument.name for argument in arguments]
    if not table.has("arguments"):
        return tuple(each.name for each in arguments if not is_scratch(each))
    for name in table.texts("arguments"):
        if name not in known:
            raise table.error("arguments", f"there is no argument '{name}'; there are {', '.join(known)}")
    return table.texts("arguments")


def is_scratch(argument: ArgumentDescription) -> bool:
    """Return True for a buffer that only the launches share."""
    return isinstance(argument, BufferDescription) and argument.is_scratch


def _conditions(table: Table, selects: Sequence[Parameter]) -> tuple[Condition, ...]:
    if not table.has("when"):
        return ()
    texts = [table.text("when")] if isinstance(table.values["when"], str) else table.texts("when")
    return tuple(table.parse_text("when", lambda text: condition(text, selects), text) for text in texts)
