"""Tunes what was recorded of a program, with one budget for all kernels, and puts what is found on the shelf.

    rows of a recording ─▶ worth it? ─▶ remembered already, or tuned for its share of the seconds ─▶ shelf

A kernel gets the part of the seconds that its launches had of the recorded run's time; what one does not use is
there for those after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.base.bug_report import bug_message
from coarsen.devices.discovery import DeviceDescription, discover_devices
from coarsen.drop_in.measured_launch import choice_of, no_result, remember
from coarsen.errors import CoarsenError, InternalError, InvalidInputError, RefusalError
from coarsen.layer.log import RecordedDevice, RecordedProgram
from coarsen.layer.recording import KernelRow, options_of
from coarsen.layer.shelf import Shelved, shelve
from coarsen.policy.keys import kernel_facts, key_of
from coarsen.policy.remembered import without_result
from coarsen.tuning.captured_tuning import alone_on, tune_file
from coarsen.tuning.progress import Deadline, TimeOverError
from coarsen.tuning.remembered.choice import RememberedChoice, SizeClass, problem_of
from coarsen.tuning.remembered.look_up import remembered_choice
from coarsen.tuning.settings import Tune
from coarsen.variant.transforms import Transforms, device_kind_of
from coarsen.variant.variant import Variant

# Who has less than this share of the kernels' time can't gain what tuning it takes.
WORTH_TUNING = 0.02
# With less, a search has no result.
LEAST_SECONDS = 5.0
# Each is compiled for its key; a program that tunes itself has hundreds.
_MOST_PROGRAMS = 64

# Shows how the tuning of a kernel goes on, by the settings that it returns.
Shown = Callable[[str, Tune], AbstractContextManager[Tune]]


@dataclass(slots=True)
class Finding:
    """What was found for the launches of a row.

    Attributes:
        row: of the recording.
        share: of all kernels' time.
        choice: what is remembered; None where nothing is.
        is_new: whether that was found now.
        reason: why there is no choice, or none on the shelf for some sizes; empty otherwise.
        shelved: what is on the shelf, in words; empty where nothing is.
    """

    row: KernelRow
    share: float
    choice: RememberedChoice | None = None
    is_new: bool = False
    reason: str = ""
    shelved: str = ""


@dataclass(slots=True)
class TunedRun:
    """What came of tuning a recorded program.

    Attributes:
        findings: one for each row of the recording.
        is_interrupted: whether Ctrl-C ended it early.
    """

    findings: list[Finding]
    is_interrupted: bool = False


def tune_rows(rows: Sequence[KernelRow], settings: Tune, shown: Shown, shelf: Path) -> TunedRun:
    """Tune the rows of a recording, remember what is found, and write the shelf.

    Args:
        rows: those with the longest time first.
        settings: how to tune; the seconds are for all of them.
        shown: shows a tuning.
        shelf: the folder of units.

    Raises:
        InvalidInputError: the shelf can't be written.
    """
    total = sum(row.nanoseconds or 0 for row in rows)
    findings = [Finding(row, (row.nanoseconds or 0) / total if total else 0.0) for row in rows]
    devices = {RecordedDevice(each.name, each.platform_name): each for each in discover_devices()}
    run = TunedRun(findings)
    try:
        _tune_all(findings, devices, settings, shown)
    except KeyboardInterrupt:
        run.is_interrupted = True
    for finding in findings:
        if run.is_interrupted and finding.choice is None and not finding.reason:
            finding.reason = "interrupted before it was tuned"
    try:
        _shelve_all(findings, devices, settings, shelf)
    except KeyboardInterrupt:
        run.is_interrupted = True
    return run


def _tune_all(
    findings: Sequence[Finding], devices: dict[RecordedDevice, DeviceDescription], settings: Tune, shown: Shown
) -> None:
    for finding in findings:
        finding.reason = _reason_against(finding, devices)
    asked = [finding for finding in findings if not finding.reason]
    deadline = Deadline(settings.seconds)
    for number, finding in enumerate(asked):
        device = devices[RecordedDevice(finding.row.device, finding.row.platform)]
        alike = (each.choice for each in asked[:number] if _is_same(each, finding))
        first = next((choice.variant for choice in alike if choice is not None), None)
        seconds = seconds_of([each.share for each in asked[number:]], deadline.left)
        try:
            _tune(finding, device, settings, seconds, first, shown)
        except TimeOverError as error:
            finding.reason = str(error)
        except RefusalError as error:
            finding.reason = f"{error.code}: {error.reason}"
        except InternalError as error:
            finding.reason = bug_message(error)
        except CoarsenError as error:
            finding.reason = str(error)
        except Exception as error:
            # The others are to be tuned.
            finding.reason = bug_message(error)


def seconds_of(shares: Sequence[float], left: float) -> float:
    """Return what the first of some kernels may take.

    Args:
        shares: of the kernels' time, one for each that is still to be tuned.
        left: the seconds that there are for all of these.
    """
    mean = left * shares[0] / sum(shares)
    return min(left, max(mean, LEAST_SECONDS))


def _reason_against(finding: Finding, devices: dict[RecordedDevice, DeviceDescription]) -> str:
    row = finding.row
    if row.refusal:
        return row.refusal
    if row.path is None:
        return "it is not recorded"
    if finding.share < WORTH_TUNING:
        return f"below {WORTH_TUNING:.0%} of the time"
    if RecordedDevice(row.device, row.platform) not in devices:
        return "there is no such device in this process"
    return ""


def _is_same(one: Finding, other: Finding) -> bool:
    """Return True for launches of one kernel on one device."""
    rows = one.row, other.row
    return len({(row.program, row.kernel, row.device, row.platform) for row in rows}) == 1


def _tune(
    finding: Finding,
    device: DeviceDescription,
    settings: Tune,
    seconds: float,
    first: Variant | None,
    shown: Shown,
) -> None:
    """Find what is remembered, or tune for some seconds. Raises CoarsenError where nothing is found out."""
    row = finding.row
    options = options_of(row.program)
    transforms = Transforms(device_kind=device_kind_of(device.device_types))
    facts = kernel_facts(row.program.source, row.kernel, options, device.macros)
    size_class = SizeClass.parse(row.size_class)
    key = key_of(facts.ir_hash, row.kernel, device, options, transforms, size_class)
    known = remembered_choice(settings.store, key)
    if known is not None and problem_of(known, device.driver_version, device.platform_version) is None:
        if known.has_result:
            finding.choice = known
            return
        if known.seconds >= seconds:
            raise InvalidInputError(without_result(known))
    if seconds <= 0 or seconds < min(LEAST_SECONDS, settings.seconds):
        raise InvalidInputError("the seconds were over before it was its turn: --seconds takes more")
    assert row.path is not None, "it is looked at before"
    try:
        own = replace(settings, seconds=seconds)
        with alone_on(device, seconds), shown(row.kernel, own) as chosen:
            given = row.path, row.byte_count, device, transforms, facts.groups_matter
            tuned = tune_file(*given, chosen, first)
    except TimeOverError:
        remember(no_result(key, device, row.global_size, size_class.local_size, seconds), settings.store)
        raise
    if tuned.doubt:
        raise InvalidInputError(tuned.doubt)
    finding.choice, finding.is_new = choice_of(tuned, key, device), True
    kept = remember(finding.choice, settings.store)
    if kept.reason:
        finding.reason = f"what was found can't be remembered: {kept.reason}"


def _shelve_all(
    findings: Sequence[Finding], devices: dict[RecordedDevice, DeviceDescription], settings: Tune, shelf: Path
) -> None:
    for program, device, of_both in _programs(findings):
        if device in devices:
            kinds = [kind for finding in of_both for kind in finding.row.kinds]
            try:
                _note(of_both, shelve(shelf, program, devices[device], kinds, settings.store))
            except InvalidInputError:
                raise
            except Exception as error:
                # Other programs are to be there.
                for finding in of_both:
                    finding.reason = finding.reason or bug_message(error)


def _programs(findings: Sequence[Finding]) -> Iterator[tuple[RecordedProgram, RecordedDevice, list[Finding]]]:
    """Yield the programs whose text is known, with the device; those with the longest time first."""
    groups: dict[tuple[RecordedProgram, RecordedDevice], list[Finding]] = {}
    for finding in findings:
        row = finding.row
        if not row.program.problem:
            groups.setdefault((row.program, RecordedDevice(row.device, row.platform)), []).append(finding)
    for (program, device), members in list(groups.items())[:_MOST_PROGRAMS]:
        yield program, device, members


def _note(findings: Sequence[Finding], shelved: Sequence[Shelved]) -> None:
    """Note with each finding what became of it on the shelf."""
    for finding in findings:
        for each in shelved:
            if each.kernel == finding.row.kernel and each.size_class in ("", finding.row.size_class):
                finding.shelved = finding.shelved or each.runs
                if each.reason and finding.choice is not None:
                    finding.reason = each.reason
