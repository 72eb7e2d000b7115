"""The key of what is remembered for a launch."""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.results.remembered.choice import RememberedKey, SizeClass, allowed_text
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant_json import transforms_to_json

# What these say is in the kernel's normal form.
_IN_THE_CODE = ("-D", "-I")
# What tuning decides by itself, whatever the program allows where nothing is remembered.
_TUNED = frozenset({"wide_accesses", "distinct"})
# Without any, it is this one.
_STANDARD = "-cl-std=CL1.2"


def key_of(
    ir_hash: str,
    kernel: str,
    device: DeviceDescription,
    options: Sequence[str],
    transforms: Transforms,
    size_class: SizeClass,
) -> RememberedKey:
    """Return the key of a launch.

    Args:
        ir_hash: of the kernel's normal form.
        kernel: its name.
        device: where it runs.
        options: build options, one by one; those that change the code in the end, and not its normal form, count.
        transforms: what the program allows; wide accesses and distinct arguments are the tuning's to decide.
        size_class: of the launch.
    """
    allowed = {name: value for name, value in transforms_to_json(transforms).items() if name not in _TUNED}
    allowed["options"] = list(_own_options(options))
    return RememberedKey(
        ir_hash,
        kernel,
        device.vendor,
        device.name,
        device.platform_name,
        allowed_text({**allowed, "compute_units": device.compute_units}),
        size_class,
    )


def _own_options(options: Sequence[str]) -> list[str]:
    """The options that a kernel's normal form does not hold, in their order."""
    kept: list[str] = []
    words = iter(options)
    for word in words:
        if word in _IN_THE_CODE:
            next(words, None)
        elif not word.startswith(_IN_THE_CODE) and word != _STANDARD:
            kept.append(word)
    return kept
