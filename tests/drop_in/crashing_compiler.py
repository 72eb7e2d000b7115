"""The compile service with a compiler that crashes at every second coarsened variant, and never ends at others."""

from __future__ import annotations

import os
import signal
import time

from coarsen.tuning.processes.child_process import Message, serve
from coarsen.tuning.processes.compile_service import CompileService
from coarsen.variant.coarsening import Level
from coarsen.variant.variant_json import variant_from_json


def main() -> None:
    service = CompileService()

    def compile_badly(request: Message) -> Message:
        for coarsening in variant_from_json(request["candidate"]).coarsenings:
            if coarsening.level is Level.GROUP:
                time.sleep(600)
            os.kill(os.getpid(), signal.SIGKILL)  # drivers catch the others
        return service.compile(request)

    serve({"describe": service.describe, "compile": compile_badly})


if __name__ == "__main__":
    main()
