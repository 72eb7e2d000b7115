"""What the rows of a store would ship of each kernel that adapts: its tuned file, and the code of its versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.judging import of_all_inputs
from coarsen.opencl_bench.inputs.adaptive_tuning import adaptive_file
from coarsen.opencl_bench.inputs.evidence import Evidence
from coarsen.opencl_bench.records.code import Code, code_from_json
from coarsen.opencl_bench.studies.input_rows import StoredKernel, stored_kernels
from coarsen.opencl_bench.sweep.compile_service import CompileService
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_to_json


@dataclass(frozen=True, slots=True)
class ShippedKernel:
    """A kernel with its rows of one device, and the tuned file that these make."""

    stored: StoredKernel
    file: TunedFile


def shipped_kernels(
    stores: Sequence[str], names: Sequence[str], device: DeviceDescription
) -> Iterator[ShippedKernel]:
    """Yield what is shipped of kernels that were measured on a device.

    Args:
        stores: paths or URLs.
        names: of the kernels, `adaptive-<kernel>`; all if empty.
        device: whose rows count.

    Raises:
        InvalidInputError: no such store or kernel, or a kernel with no input at which everything was measured.
    """
    for stored in stored_kernels(stores, names):
        if (stored.environment.platform, stored.environment.device) == (device.platform_name, device.name):
            yield ShippedKernel(stored, file_of(stored, device))


def file_of(stored: StoredKernel, device: DeviceDescription) -> TunedFile:
    """Return the tuned file that a kernel's rows make; a first stage is replayed on them.

    Raises:
        InvalidInputError: at no input is everything measured.
    """
    study = stored.study()
    _, choice = of_all_inputs(study)
    columns = [study.times.versions.index(version) for version in choice.versions]
    evidence = Evidence(stored.kernel.name, study.settings.margin, study.times.of_versions(columns))
    return adaptive_file(stored.kernel, device, choice, evidence)


class VersionCodes:
    """The code of versions, made in this process; the device's own compiler is left out."""

    def __init__(self) -> None:
        self._service = CompileService()

    def of(self, stored: StoredKernel, version: Variant) -> Code:
        """Return a version's code. Raises InvalidInputError where there is none."""
        name = stored.kernel.name
        answer = self._service.compile(
            {
                "number": name,
                "benchmark": name,
                "candidate": variant_to_json(version),
                "form": stored.environment.form,
                "ir_hash": None,
                "machine": None,
            }
        )
        if "code" not in answer:
            raise InvalidInputError(f"{name}, {version}: {answer.get('failed', 'its source has changed')}")
        return code_from_json(answer["code"])
