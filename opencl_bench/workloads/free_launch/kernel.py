"""A kernel of free launch as it was drawn: its mechanism, source, parameters and legal local sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from coarsen.opencl_bench.workloads.benchmark import LocalSize
from coarsen.opencl_bench.workloads.free_launch.frame import EXTENTS, IDS, Frame, Guard
from coarsen.opencl_bench.workloads.free_launch.mechanisms import Mechanism
from coarsen.opencl_bench.workloads.free_launch.parts import Buffer, Scalar, Scratch, Sketch
from coarsen.opencl_bench.workloads.signature import signature_lines
from coarsen.opencl_bench.workloads.synthetic.text import indented

PREFIX = "launch"
Parameter = Buffer | Scalar | Scratch


@dataclass(frozen=True, slots=True)
class DrawnKernel:
    """A kernel and all that its workload follows from; `local_sizes` has its own first."""

    seed: int
    index: int
    mechanism: Mechanism
    frame: Frame
    sketch: Sketch
    local_sizes: tuple[LocalSize, ...]

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return f"{PREFIX}-{self.seed}-{self.index}"

    @property
    def kernel(self) -> str:
        """The kernel function's name."""
        return f"{self.mechanism.value}_{self.sketch.variant}_{self.index}"

    @property
    def family(self) -> str:
        """The structural class: kernels of one are variations of each other."""
        return f"{PREFIX}-{self.mechanism.value}-{self.sketch.variant}"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in their order."""
        text = "\n".join(self._statements())
        scalars = [Scalar("width", lambda x: x.width), Scalar("height", lambda x: x.height)]
        scalars += [Scalar("depth", lambda x: x.depth), Scalar("trips", lambda x: x.trips)]
        named = [each for each in scalars if _names(each.name, text) and f"uint {each.name} =" not in text]
        passed = [each for each in self.sketch.scratch if each.is_argument]
        return (*self.sketch.buffers, *named, *passed)

    @property
    def source(self) -> str:
        """The OpenCL C source."""
        lines = [
            f"/* {self.name}: {self.mechanism.value} ({self.sketch.variant}), guard {self.frame.guard.value}. */",
            "",
            *self.sketch.before,
            *signature_lines(self.kernel, (parameter.declaration for parameter in self.parameters)),
            "{",
            *indented(self._statements()),
            "}",
            "",
        ]
        return "\n".join(lines)

    def _statements(self) -> list[str]:
        body = self.sketch.body
        if not self.sketch.guards_itself and not self.sketch.item_per_group:
            body = self._guarded(body)
        scratch = [
            f"local {each.type} {each.name}[{max(map(each.elements, self.local_sizes))}];"
            for each in self.sketch.scratch
            if not each.is_argument
        ]
        return [*scratch, *self._declarations(body), *body]

    def _guarded(self, body: list[str]) -> list[str]:
        frame = self.frame
        if frame.guard is Guard.RETURN:
            beyond = " || ".join(f"{at} >= {end}" for at, end in frame.axes)
            return [f"if ({beyond})", "    return;", *body]
        return frame.within(body)

    def _declarations(self, body: list[str]) -> list[str]:
        """Ids and extents that the body names, in an order that works."""
        frame = self.frame
        extents = [(name, f"get_global_size({d})") for d, name in enumerate(EXTENTS[: frame.dimensions])]
        asks = frame.asks_ndrange and frame.guard is Guard.NONE and not self.sketch.item_per_group
        ids = [(name, f"get_global_id({d})") for d, name in enumerate(IDS[: frame.dimensions])]
        possible = [*(extents if asks else []), *ids, ("position", frame.position)]
        text, declared = "\n".join(body), list[str]()
        for name, value in reversed(possible):
            if _names(name, text):
                declared.insert(0, f"uint {name} = {value};")
                text = f"{value}\n{text}"
        return declared


def _names(name: str, text: str) -> bool:
    return re.search(rf"(?<![.\w]){name}\b", text) is not None
