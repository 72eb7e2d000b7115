"""The process in which a captured launch is tuned; those that compile and measure are started by it.

tune ─▶ (progress ─▶ go_on)… ─▶ tuned, or failed: the kind of error and its message
"""

from __future__ import annotations

import contextlib
import sys
import time
import traceback
import warnings
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from coarsen.base.codec import decoded, encoded
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import CoarsenError, InternalError, RefusalError
from coarsen.runtime.code import Codes
from coarsen.runtime.text_cache.store import Store
from coarsen.runtime.toolchain import Toolchain
from coarsen.tuning.processes.child_process import Message, serve
from coarsen.tuning.progress import Deadline, TuningProgress
from coarsen.tuning.settings import Tune
from coarsen.tuning.tuned import Tuned
from coarsen.tuning.tuner import tune_benchmark
from coarsen.tuning.tuning_processes import LaunchToTune
from coarsen.tuning.workload.captured_benchmark import read_launch
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json, variant_to_json

ENCODERS = {Variant: variant_to_json}


class TuningService:
    """Tunes in a thread, whose progress and finding are the answers."""

    def __init__(self) -> None:
        self._answers: SimpleQueue[Message] = SimpleQueue()

    def tune(self, request: Message) -> Message:
        """Begin; the request is that of `captured_tuning.tune_captured`. Return the first answer."""
        Thread(target=self._tune, args=(request,), daemon=True).start()
        return self._answers.get()

    def go_on(self, _request: Message) -> Message:
        """Return the next answer."""
        return self._answers.get()

    def _tune(self, request: Message) -> None:
        try:
            self._answers.put({"tuned": encoded(self._tuned(request), ENCODERS)})
        except CoarsenError as error:
            self._answers.put(_failed(error))
        except Exception:  # nobody thought of it: whoever asked reports it
            self._answers.put({"failed": InternalError.__name__, "message": traceback.format_exc()})

    def _tuned(self, request: Message) -> Tuned:
        given = request["settings"]
        tell = self._tell if request["tells"] else None
        settings = Tune(**{**given, "levels": tuple(given["levels"])}, progress=tell)
        file = request["file"]
        benchmark = read_launch(Path(file))
        # All are alike.
        preset = next(iter(benchmark.presets))
        launch = LaunchToTune(
            benchmark,
            file,
            f"the kernel '{benchmark.kernel}'",
            preset,
            decoded(DeviceDescription, request["device"], "the device"),
            decoded(Transforms, request["transforms"], "the transforms"),
            request["byte_count"],
            # Other local sizes are only tried where results can't depend on them.
            benchmark.preset(preset).local_size,
        )
        first = None if request["first"] is None else variant_from_json(request["first"])
        deadline = Deadline(settings.seconds, time.monotonic() - (time.time() - request["begun"]))
        tuned = tune_benchmark(launch, request["groups_matter"], settings, deadline, first=first)
        if tuned.choice.is_rewritten and not tuned.doubt and request["text"]["folder"]:
            _keep_text(tuned.choice, launch, request["text"])
        return tuned

    def _tell(self, progress: TuningProgress) -> None:
        self._answers.put({"progress": encoded(progress, ENCODERS)})


def _keep_text(choice: Variant, launch: LaunchToTune, text: Message) -> None:
    """Put the coarsened text of what was found where the program looks for it."""
    toolchain = Toolchain(launch.device.macros, Store(Path(text["folder"])))
    codes = Codes(text["source"], text["options"], "opencl_c", toolchain)
    with contextlib.suppress(CoarsenError):
        codes.coarsen(launch.benchmark.kernel, choice)


def _failed(error: CoarsenError) -> Message:
    if isinstance(error, RefusalError):
        position = None if error.position is None else encoded(error.position)
        return {"failed": RefusalError.__name__, "code": error.code, "message": error.reason, "position": position}
    return {"failed": type(error).__name__, "message": str(error)}


def main() -> int:
    """Serve until the parent has no more requests."""
    # Vendors' compilers print remarks at every build.
    warnings.simplefilter("ignore")
    service = TuningService()
    serve({"tune": service.tune, "go_on": service.go_on})
    return 0


if __name__ == "__main__":
    sys.exit(main())
