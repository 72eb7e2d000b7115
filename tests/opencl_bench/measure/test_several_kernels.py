"""Launches that name several kernels: one is coarsened, others alike where they are to be, the rest as written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.tuning.engine.plan import DeviceLimits, LaunchConstraint
from coarsen.tuning.measure.machine import BuildError, UndividedError
from coarsen.tuning.measure.opencl_machine import OpenClMachine
from coarsen.tuning.measure.session import Session, Slot
from coarsen.tuning.measure.variant_launch import variant_launches
from coarsen.tuning.processes.compile_service import CompileService
from coarsen.tuning.records.code import FORMS, Code, Form, code_from_json
from coarsen.tuning.records.measurement import Method
from coarsen.tuning.workload.benchmark import Launch, LocalSize, Size, Workload
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Definitions, Variant
from coarsen.variant.variant_json import variant_to_json
from tests.opencl_bench.steps import AT_ONCE, IN_TWO, NAME, STEPS, definitions, make_launches, make_workload

COARSENED = Variant((32,), (Coarsening(2),), definitions(IN_TWO))


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> CompileService:
    monkeypatch.setattr("coarsen.tuning.processes.compile_service.benchmark_of", lambda _name: STEPS)
    return CompileService()


def code_of(service: CompileService, variant: Variant, form: Form = "opencl_c") -> Code:
    asked = {"benchmark": NAME, "form": form, "machine": None, "ir_hash": None}
    answer = service.compile({**asked, "candidate": variant_to_json(variant)})
    return code_from_json(answer["code"])


def hash_of(service: CompileService, values: Definitions) -> Any:  # noqa: ANN401 (an answer has no type)
    return service.describe({"benchmark": NAME, "definitions": dict(values)})["ir_hash"]


@pytest.mark.compiled_devices
@pytest.mark.parametrize(
    "variant",
    [Variant((32,), (), definitions(AT_ONCE)), Variant((64,), (), definitions(IN_TWO)), COARSENED],
    ids=["at once", "in two", "coarsened"],
)
def test_each_launch_runs_its_kernel(service: CompileService, variant: Variant, device: DeviceDescription) -> None:
    session = Session(OpenClMachine(device), STEPS, "test", 0, shared_local_size=STEPS.shared_local_size)
    code = code_of(service, variant)
    session.load(Slot.CANDIDATE, variant, code)
    session.expect(Slot.CANDIDATE, code)
    assert session.try_out(Slot.CANDIDATE).wrong == ()


@pytest.mark.compiled_devices
def test_launches_are_timed_as_one_job(service: CompileService, device: DeviceDescription) -> None:
    session = Session(OpenClMachine(device), STEPS, "test", 0, shared_local_size=STEPS.shared_local_size)
    for slot, values in ((Slot.BASELINE, definitions(AT_ONCE)), (Slot.CANDIDATE, definitions(IN_TWO))):
        variant = Variant((32,), (), values)
        session.load(slot, variant, code_of(service, variant))
    timed = session.time(Method(repetitions=3, minimum_repetitions=3))
    for spans, sums, host in (
        (timed.baseline_nanoseconds, timed.baseline_sum_nanoseconds, timed.baseline_host_nanoseconds),
        (timed.nanoseconds, timed.sum_nanoseconds, timed.host_nanoseconds),
    ):
        assert len(spans) == len(sums) == len(host) == 3
        assert all(0 < total <= span for total, span in zip(sums, spans, strict=True))


def test_forms_of_one_kernel_bring_the_others_along(service: CompileService) -> None:
    for form in FORMS[:2]:
        code = code_of(service, COARSENED, form)
        assert [code.kernel_of(name)[0] is code for name in ("twice", "add")] == [True, False]
        assert code_from_json(code.to_json()) == code
    # In OpenCL C these are one program more, which is the one that runs uncoarsened.
    original = code_of(service, COARSENED.uncoarsened())
    assert code_of(service, COARSENED).others == (original,)
    assert not original.others and original.kernel_of("add") == (original, "add")


def test_only_launches_of_the_coarsened_kernel_are_divided(service: CompileService) -> None:
    launches = STEPS.launches("test", (32,), COARSENED.definitions)
    made = variant_launches(launches, COARSENED, code_of(service, COARSENED))
    assert [(each.kernel, each.global_size, each.local_size) for each in made] == [
        ("twice", (128,), (16,)),
        ("add", (256,), (32,)),
    ]


def all_alike(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    return tuple(replace(each, is_coarsened=each.kernel == "add") for each in make_launches(size, local_size))


def workload_alike(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    return replace(make_workload(size, local_size, generator), launches=all_alike(size, local_size))


# Both kernels of the version of two launches are coarsened.
ALIKE = replace(STEPS, coarsened_kernels=("add",), make_launches=all_alike, make_workload=workload_alike)


@pytest.fixture
def alike(monkeypatch: pytest.MonkeyPatch) -> CompileService:
    monkeypatch.setattr("coarsen.tuning.processes.compile_service.benchmark_of", lambda _name: ALIKE)
    return CompileService()


def test_others_are_coarsened_alike(alike: CompileService) -> None:
    for form in FORMS[:2]:
        code = code_of(alike, COARSENED, form)
        (other,) = code.alike
        assert (other.kernel, code.kernel_of("add", True), code.kernel_of("add")[0] is other) == (
            "add",
            (other, "add"),
            False,
        )
        assert code_from_json(code.to_json()) == code
        former = {name: value for name, value in code.to_json().items() if name != "alike"}
        assert code_from_json(former) == replace(code, alike=())
        launches = ALIKE.launches("test", (32,), COARSENED.definitions)
        made = variant_launches(launches, COARSENED, code)
        assert [(each.kernel, each.global_size, each.local_size) for each in made] == [
            ("twice", (128,), (16,)),
            ("add", (128,), (16,)),
        ]
    uncoarsened = COARSENED.uncoarsened()
    original = code_of(alike, uncoarsened)
    assert (
        not original.alike and code_of(alike, COARSENED).hash != replace(code_of(alike, COARSENED), alike=()).hash
    )
    assert not any(each.is_coarsened for each in variant_launches(launches, uncoarsened, original))


def test_a_launch_that_does_not_divide_rules_the_variant_out(alike: CompileService) -> None:

    def smaller(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
        first, second = all_alike(size, local_size)
        return first, replace(second, local_size=(1,))

    small = replace(ALIKE, make_launches=smaller)
    limits = DeviceLimits(1024, (1024, 1024, 1024), 1 << 15)
    assert LaunchConstraint(ALIKE, "test", limits)(COARSENED) is None
    assert (
        LaunchConstraint(small, "test", limits)(COARSENED)
        == "the factor 2 does not divide the local size 1 along 0"
    )
    assert LaunchConstraint(small, "test", limits)(COARSENED.uncoarsened()) is None


@pytest.mark.compiled_devices
@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("plus", ["1", "3"])
def test_what_is_coarsened_alike_is_verified(
    alike: CompileService, plus: str, guarded: bool, device: DeviceDescription
) -> None:
    """`PLUS` is of the other kernel alone: where that one is wrong, so is the variant."""
    variant = Variant((32,), (Coarsening(2),), definitions(IN_TWO, plus), any_size=guarded)
    session = Session(OpenClMachine(device), ALIKE, "test", 0, shared_local_size=ALIKE.shared_local_size)
    session.load(Slot.CANDIDATE, variant, code_of(alike, variant))
    session.expect(Slot.CANDIDATE, code_of(alike, Variant((32,), (), definitions(IN_TWO))))
    assert bool(session.try_out(Slot.CANDIDATE).wrong) == (plus == "3")


def test_which_kernel_can_not_be_coarsened_is_said(alike: CompileService, monkeypatch: pytest.MonkeyPatch) -> None:
    text = STEPS.source_text.replace("output[i] = doubled[i] + PLUS", "output[get_local_size(0) + i] = doubled[i]")
    text = text.replace("kernel void add", "__attribute__((reqd_work_group_size(32, 1, 1))) kernel void add")
    changed = replace(ALIKE, source_text=text)
    monkeypatch.setattr("coarsen.tuning.processes.compile_service.benchmark_of", lambda _name: changed)
    asked = {"benchmark": NAME, "form": "opencl_c", "machine": None, "ir_hash": None}
    variant = Variant((32,), (Coarsening(2, 1),), definitions(IN_TWO))
    answer = CompileService().compile({**asked, "candidate": variant_to_json(variant)})
    assert str(answer["failed"]).startswith("the kernel add, to be coarsened alike: ")


def test_what_does_not_launch_the_kernel_can_not_be_coarsened(service: CompileService) -> None:
    idle = replace(COARSENED, definitions=definitions(AT_ONCE))
    reason = "no launch is of the kernel twice, nor of one that is coarsened alike"
    limits = DeviceLimits(1024, (1024, 1024, 1024), 1 << 15)
    constraint = LaunchConstraint(STEPS, "test", limits)
    assert constraint(idle) == reason
    assert constraint(COARSENED) is None and constraint(idle.uncoarsened()) is None
    with pytest.raises(UndividedError, match=reason):
        variant_launches(STEPS.launches("test", (32,), idle.definitions), idle, code_of(service, idle))


def test_another_kernel_that_changes_makes_other_rows(
    service: CompileService, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = hash_of(service, definitions(IN_TWO))
    changed = replace(STEPS, source_text=STEPS.source_text.replace("doubled[i] + PLUS", "PLUS + 2 * doubled[i]"))
    monkeypatch.setattr("coarsen.tuning.processes.compile_service.benchmark_of", lambda _name: changed)
    assert hash_of(CompileService(), definitions(IN_TWO)) != before


def test_the_hash_of_code_tells_its_other_programs() -> None:
    code = Code("opencl_c", "one", "text")
    # That of code which was stored before there were several kernels.
    assert code.hash == "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
    assert replace(code, others=(code,)).hash != code.hash


def test_a_kernel_that_no_program_has(service: CompileService) -> None:
    original = code_of(service, COARSENED.uncoarsened())
    with pytest.raises(InvalidInputError, match="a launch names the kernel 'scale', which none of the programs"):
        original.kernel_of("scale")


def test_a_device_refuses_such_a_launch(service: CompileService, device: DeviceDescription) -> None:
    (first, second) = STEPS.launches("test", (32,), COARSENED.definitions)
    executor = OpenClMachine(device).place(STEPS.workload("test", 0, None, COARSENED.definitions))
    code = code_of(service, COARSENED)
    with pytest.raises(BuildError, match="names the kernel 'scale'"):
        executor.load(code, COARSENED, launches=(first, replace(second, kernel="scale")))
