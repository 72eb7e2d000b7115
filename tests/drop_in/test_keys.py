"""What a remembered choice is looked up by."""

from __future__ import annotations

from dataclasses import replace

from coarsen.frontend.device_macros import PORTABLE
from coarsen.policy.keys import kernel_facts, key_of
from coarsen.tuning.remembered.choice import RememberedKey, SizeClass
from coarsen.variant.transforms import DEFAULT, DeviceKind, Transforms, Use
from tests.devices.described_devices import TAHITI

SIZES = SizeClass.of((1024,), (64,))
DEVICE = TAHITI
SOURCE = "kernel void scale(global float *x) { x[get_global_id(0)] *= FACTOR; }"


def key(
    *options: str, ir_hash: str = "0" * 64, transforms: Transforms = DEFAULT, sizes: SizeClass = SIZES
) -> RememberedKey:
    return key_of(ir_hash, "scale", DEVICE, options, transforms, sizes)


def test_what_is_in_the_normal_form_is_not_in_the_options() -> None:
    assert key("-DFACTOR=2", "-I", "folder", "-Ifolder", "-D", "A=1") == key()


def test_what_changes_the_code_in_the_end_is() -> None:
    keys = {
        key(),
        key("-cl-fast-relaxed-math"),
        key("-cl-nv-maxrregcount=32"),
        key(ir_hash="1" * 64),
        key(sizes=SizeClass.of((1000,), (64,))),
        key(transforms=replace(DEFAULT, fast_path=Use.NEVER)),
        key(transforms=replace(DEFAULT, device_kind=DeviceKind.CPU)),
        key_of("0" * 64, "scale", replace(DEVICE, compute_units=7), (), DEFAULT, SIZES),
        key_of("0" * 64, "scale", replace(DEVICE, name="another"), (), DEFAULT, SIZES),
    }
    assert len(keys) == 9


def test_wide_accesses_and_distinct_arguments_are_for_tuning_to_decide() -> None:
    assert key(transforms=replace(DEFAULT, wide_accesses=not DEFAULT.wide_accesses)) == key()
    assert key(transforms=replace(DEFAULT, distinct=not DEFAULT.distinct)) == key()


def test_comments_change_nothing_and_values_do() -> None:
    def hash_of(source: str, *options: str) -> str:
        return kernel_facts(source, "scale", options, PORTABLE).ir_hash

    own = hash_of(SOURCE, "-DFACTOR=2")
    assert hash_of("/* twice */ " + SOURCE, "-DFACTOR=2") == own
    assert hash_of(SOURCE, "-DFACTOR=3") != own


def test_whether_groups_matter() -> None:
    free = kernel_facts(SOURCE, "scale", ("-DFACTOR=2",), PORTABLE)
    grouped = kernel_facts(SOURCE.replace("FACTOR", "get_local_id(0)"), "scale", (), PORTABLE)
    assert (free.groups_matter, grouped.groups_matter) == (False, True)
