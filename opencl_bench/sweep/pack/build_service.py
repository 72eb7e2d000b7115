"""The process in which a pack's code is built ahead, so that the device's driver has it in its cache.

It needs what the process needs that measures, and runs nothing.
"""

from __future__ import annotations

import base64
import sys
import warnings

from coarsen.errors import CoarsenError, InternalError
from coarsen.opencl_bench.measure.machine import BuildError, BuildingMachine, LaunchError
from coarsen.opencl_bench.records.code import code_from_json
from coarsen.opencl_bench.sweep.measure_service import open_machine
from coarsen.opencl_bench.sweep.serving import Message, serve


class BuildService:
    """Keeps the device's context between requests."""

    def __init__(self) -> None:
        self._machine: BuildingMachine | None = None

    def open(self, request: Message) -> Message:
        """`machine`: open the device."""
        try:
            self._machine = open_machine(request["machine"])
        except (CoarsenError, LaunchError) as error:
            return {"failed": str(error)}
        return {"ok": True}

    def build(self, request: Message) -> Message:
        """`code`: build it; `binary` is the device's, in base64, or null where it gives none."""
        if self._machine is None:
            raise InternalError("the device was not opened")
        try:
            binary = self._machine.compile(code_from_json(request["code"]))
        except BuildError as error:
            return {"failed": str(error)}
        return {"ok": True, "binary": base64.b64encode(binary).decode() if binary else None}


def main() -> int:
    """Serve until the parent has no more requests."""
    warnings.simplefilter("ignore")
    service = BuildService()
    serve({"open": service.open, "build": service.build})
    return 0


if __name__ == "__main__":
    sys.exit(main())
