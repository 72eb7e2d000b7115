"""The compile service with a compiler that crashes at factor 2 and never ends at factor 4."""

from __future__ import annotations

import os
import signal
import time

from coarsen.tuning.processes.child_process import Message, serve
from coarsen.tuning.processes.compile_service import CompileService
from coarsen.variant.variant_json import variant_from_json


def main() -> None:
    service = CompileService()

    def compile_badly(request: Message) -> Message:
        factor = variant_from_json(request["candidate"]).factor
        if factor == 2:
            os.kill(os.getpid(), signal.SIGKILL)  # drivers catch the others
        if factor == 4:
            time.sleep(600)
        return service.compile(request)

    serve({"describe": service.describe, "compile": compile_badly})


if __name__ == "__main__":
    main()
