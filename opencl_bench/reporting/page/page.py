"""The page's text: the template filled in, with style and script inside, and nothing loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import math
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from coarsen.base.files import replace_file
from coarsen.base.version import __version__
from coarsen.opencl_bench.reporting.page.content import Best, Report, interval, percent, ratio
from coarsen.opencl_bench.reporting.page.extract import ENDINGS, report_of
from coarsen.opencl_bench.results.best import verified_against
from coarsen.opencl_bench.results.results import Results
from coarsen.tuning.records.measurement import CheckedAgainst

# As many looks as `page.css` and the template's symbols have; they come again after these.
LOOKS = 8
# Lines to paste that are seen at once; the others are folded away.
PASTED = 3
# Kernels that the chart of gains shows at once.
CHARTED = 25
_ROUND = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0, 300.0)
# In per cent of the width.
_TICKS_APART = 11


@dataclass(frozen=True, slots=True)
class BarAxis:
    """The logarithmic axis of the bars in the table, in per cent of a bar's width."""

    low: float
    high: float

    def x(self, value: float) -> float:
        """Return the position of a speed-up."""
        return round(3 + 94 * math.log(value / self.low) / math.log(self.high / self.low), 1)

    @property
    def ticks(self) -> tuple[float, ...]:
        """Return a few round values, 1 and the axis' end among them, far enough apart to be read."""
        inside = [value for value in _ROUND if self.low <= value <= self.high]
        kept: list[float] = []
        for value in sorted(inside, key=lambda value: (value not in (1, self.high), abs(math.log(value)))):
            if all(abs(self.x(value) - self.x(other)) >= _TICKS_APART for other in kept):
                kept.append(value)
        return tuple(sorted(kept))


def page_of(report: Report) -> str:
    """The whole HTML file."""
    style, script = _part("page.css"), _part("page.js")
    places = report.places
    return (
        _templates()
        .get_template("page.html")
        .render(
            report=report,
            title=f"coarsen: {_measured(report)}",
            lead=_lead(report),
            names={place.slug: place.name for place in places},
            styles={place.slug: index % LOOKS for index, place in enumerate(places)},
            presets=len({place.preset for place in places}),
            endings={ending.value: words for ending, words in ENDINGS.items()},
            looks=LOOKS,
            bars=_bar_axis(report),
            pasted=PASTED,
            charted=CHARTED,
            version=__version__,
            policy=_policy(style, script),
            style=Markup(style),  # a file of this package, as the script is
            script=Markup(script),
        )
    )


def _templates() -> Environment:
    # The names that users give to kernels, and compilers' messages, are text and nothing else.
    environment = Environment(
        loader=FunctionLoader(_part),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "interval": interval,
        "percent": percent,
        "base64": _base64,
        "ratio": ratio,
        "verified": _verified,
    }
    return environment


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return the rule for what the browser may load and run: this page's style and script, by their hashes."""
    own = [_base64(hashlib.sha256(text.encode()).digest()) for text in (style, script)]
    rules = (f"style-src 'sha256-{own[0]}'", f"script-src 'sha256-{own[1]}'", "img-src data:")
    return "; ".join(("default-src 'none'", *rules, "base-uri 'none'", "form-action 'none'"))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _measured(report: Report) -> str:
    kernels, devices, places = len(report.kernels), report.devices, len(report.places)
    ways = f" in {places} ways" if places > devices else ""
    return f"{kernels} kernel{'' if kernels == 1 else 's'} on {devices} device{'' if devices == 1 else 's'}{ways}"


def _lead(report: Report) -> str:
    failed = sum(
        count for place in report.places for ending, count in place.endings.items() if ending not in _NOT_FAILED
    )
    first, last = (f"{text[:10]} {text[11:16]}".rstrip() for text in (report.first, report.last))
    left_out = sum(place.endings.get("constraints", 0) for place in report.places)
    return (
        f"{_measured(report)}, measured {first} to {last} UTC: {report.rows} rows, "
        f"{failed} of them failed, {left_out} were left out since they break a rule of the kernel or the device."
    )


_NOT_FAILED = ("correct", "constraints")


def _bar_axis(report: Report) -> BarAxis:
    gains = [best.speedup for kernel in report.kernels for best in kernel.best if best.speedup]
    high = max((*(gain.high for gain in gains), 1.25))
    # No mark lies beyond the last tick.
    end = next((value for value in _ROUND if value >= high), high)
    return BarAxis(min((*(gain.low for gain in gains), 0.8)), end)


def _verified(best: Best) -> str:
    """Describe the verification of a best configuration; nothing where it was against the reference."""
    if best.oracle == CheckedAgainst.REFERENCE.value:
        return ""
    words = verified_against(best.oracle, coarsened=best.is_coarsened)
    is_kernel = best.oracle in (CheckedAgainst.UNCOARSENED.value, CheckedAgainst.DEFAULT.value)
    return f"verified against the {words}" if is_kernel else words


def write_report(results: Results, path: str | Path, *, processes: int | None = None) -> None:
    """Write measurements as one self-contained HTML page, which a browser shows without any network.

    It has the best configuration of each kernel on each device, speed-up curves with intervals, and what failed
    and why. Measurements of several devices at several presets go into one page; nothing compares times across
    them.

    Args:
        results: of any kernels and devices, at least one measurement.
        path: the file, written in one step in place of one that may be there.
        processes: how many draw. None: as many as there are processors, but for a script just one;
            one that has its work under `if __name__ == "__main__":` may say more.

    Raises:
        InvalidInputError: the file can't be written.
    """
    report = report_of(results, processes)
    replace_file(page_of(report).encode(), Path(path))
