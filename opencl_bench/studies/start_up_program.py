"""A program of one kernel as its author may have written it: it imports, builds, launches, and says how long.

    python start_up_program.py FOLDER plain|remembered NANOSECONDS

`start_up` writes the folder and starts it, at so many nanoseconds of the monotonic clock. It is run by its path,
and imports nothing of coarsen unless it is to use it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl


def main() -> None:
    """Run the program."""
    folder, way, begun = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if way == "remembered":
        # What `coarsen.Program` is, which loads it when it is first named.
        from coarsen.drop_in.program import Program
    imported = time.monotonic_ns()
    told = json.loads((folder / "program.json").read_text(encoding="utf-8"))
    platform, name = told["device"]
    devices = [
        device
        for each in cl.get_platforms()
        if each.name.strip() == platform
        for device in each.get_devices()
        if device.name.strip() == name
    ]
    context = cl.Context(devices[:1])
    queue = cl.CommandQueue(context)
    opened = time.monotonic_ns()
    values = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = {name: cl.Buffer(context, flags, hostbuf=values[name]) for name in told["buffers"]}
    makers: dict[str, Callable[[Any], Any]] = {
        "buffer": lambda name: buffers[name],
        "scalar": lambda name: values[name][()],
        "local": cl.LocalMemory,
        "null": lambda _: None,
    }
    launches = [
        (sizes["global"], sizes["local"] or None, [makers[kind](value) for kind, value in sizes["arguments"]])
        for sizes in told["launches"]
    ]
    queue.finish()
    ready = time.monotonic_ns()
    if way == "remembered":
        program = Program(context, told["source"], tune="remembered").build(told["options"])
    else:
        program = cl.Program(context, told["source"]).build(told["options"])
    kernel = getattr(program, told["kernel"])
    built = time.monotonic_ns()
    for global_size, local_size, arguments in launches:
        kernel(queue, global_size, local_size, *arguments)
    queue.finish()
    ended = time.monotonic_ns()
    parts = {
        "import": imported - begun,
        "context": opened - imported,
        "build": built - ready,
        "launch": ended - built,
    }
    print(json.dumps({name: nanoseconds / 1e9 for name, nanoseconds in parts.items()}))


if __name__ == "__main__":
    main()
