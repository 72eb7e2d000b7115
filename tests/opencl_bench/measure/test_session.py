"""What a session compares results with, and that it holds no more on the device than it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from coarsen.opencl_bench.workloads.lookup import benchmark
from coarsen.tuning.measure.machine import BuildError, Durations, Job, LaunchError
from coarsen.tuning.measure.opencl_machine import OpenClExecutor, OpenClMachine
from coarsen.tuning.measure.session import Session, Slot, Trial
from coarsen.tuning.records.code import Code
from coarsen.tuning.records.measurement import CheckedAgainst, Method
from coarsen.tuning.workload.benchmark import Array, Benchmark, Clock, Launch, LocalSize, Preset, Size, Workload
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

ORIGINAL = Code("opencl_c", "mt", "original")
COARSENED = Variant((32, 32), (Coarsening(2),))
UNCOARSENED = Variant((32, 32))
METHOD = Method(repetitions=3, minimum_repetitions=3)


@dataclass
class PretendedMachine(OpenClMachine):
    """Computes by the reference of the small preset; code whose text says so is wrong, or does not build."""

    placed: list[Workload] = field(default_factory=list)

    def place(self, workload: Workload) -> OpenClExecutor:
        self.placed.append(workload)
        return PretendedExecutor(workload)


class PretendedExecutor(OpenClExecutor):
    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self._results: Mapping[str, Array] = {}

    def load(
        self,
        code: Code,
        variant: Variant,
        binary: bytes | None = None,
        launches: Sequence[Launch] | None = None,
    ) -> Job:
        text = str(code.content)
        if "does not build" in text:
            raise BuildError("no")

        def job(_clock: Clock) -> Durations:
            right = {name: np.arange(4) for name in self.workload.outputs}
            wrong = "wrong" in text and (self.workload.reference is not None or "everywhere" in text)
            self._results = {name: array + int(wrong) for name, array in right.items()}
            return Durations(7)

        return job

    def restore(self) -> None:
        self._results = {}

    def reset(self) -> None:
        self._results = {}

    def outputs(self) -> dict[str, Array]:
        return dict(self._results)

    def violated(self) -> tuple[str, ...]:
        return ()

    def flush_caches(self) -> None:
        raise AssertionError("nobody asked for cold caches")


def small_benchmark(*, feasible: bool) -> Benchmark:
    """One output of four numbers; a preset `test`, and `large` whose reference may not be feasible."""

    def make_workload(*_arguments: object) -> Workload:
        return Workload({"result": np.full(4, -1)}, (), ("result",), reference=lambda: {"result": np.arange(4)})

    presets = {"test": Preset({}, (32, 32)), "large": replace(Preset({}, (32, 32)), feasible=feasible)}
    return replace(benchmark("mt"), presets=presets, make_workload=make_workload)


def tried(candidate: Variant, code: Code, original: Code = ORIGINAL, *, feasible: bool = True) -> Trial:
    session = Session(PretendedMachine(), small_benchmark(feasible=feasible), "large", 0)
    session.load(Slot.CANDIDATE, candidate, code)
    session.expect(Slot.CANDIDATE, original)
    return session.try_out(Slot.CANDIDATE)


def test_the_reference_is_the_oracle_where_it_is_feasible() -> None:
    trial = tried(COARSENED, ORIGINAL)
    assert (trial.wrong, trial.oracle, trial.nanoseconds) == ((), CheckedAgainst.REFERENCE, 7)


def test_the_uncoarsened_kernel_is_the_oracle_elsewhere() -> None:
    trial = tried(COARSENED, ORIGINAL, feasible=False)
    assert (trial.wrong, trial.oracle) == ((), CheckedAgainst.UNCOARSENED)
    wrong = tried(COARSENED, replace(ORIGINAL, content="wrong everywhere"), feasible=False)
    assert "elements wrong" in wrong.wrong[0]


def test_nothing_vouches_for_the_uncoarsened_kernel_itself() -> None:
    trial = tried(UNCOARSENED, ORIGINAL, feasible=False)
    assert trial.oracle is CheckedAgainst.NOTHING


def test_an_oracle_that_is_wrong_at_the_small_preset_is_none() -> None:
    with pytest.raises(LaunchError, match="the uncoarsened kernel is wrong at preset test"):
        tried(COARSENED, ORIGINAL, replace(ORIGINAL, content="wrong"), feasible=False)


def test_an_oracle_that_does_not_build_is_none() -> None:
    with pytest.raises(LaunchError, match="the uncoarsened kernel"):
        tried(COARSENED, ORIGINAL, replace(ORIGINAL, content="does not build"), feasible=False)


def test_a_workload_is_placed_once_per_local_size() -> None:
    machine = PretendedMachine()
    session = Session(machine, small_benchmark(feasible=True), "large", 0)
    for slot, local_size in ((Slot.BASELINE, (8, 8)), (Slot.CANDIDATE, (8, 8)), (Slot.CANDIDATE, (32, 32))):
        session.load(slot, Variant(local_size), ORIGINAL)
    session.load(Slot.CANDIDATE, Variant((8, 8)), ORIGINAL)
    assert len(machine.placed) == 2
    assert session.time(METHOD).nanoseconds == session.time(METHOD).baseline_nanoseconds == (7, 7, 7)


class RememberingExecutor(PretendedExecutor):
    """Computes in two steps, by way of a buffer that is no output; lazy code leaves out the first."""

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload)
        self._original = dict(workload.buffers)
        self._now = dict(workload.buffers)

    def load(
        self,
        code: Code,
        variant: Variant,
        binary: bytes | None = None,
        launches: Sequence[Launch] | None = None,
    ) -> Job:
        def job(_clock: Clock) -> Durations:
            if "lazy" not in str(code.content):
                self._now["between"] = np.arange(4)
            if "idle" not in str(code.content):
                self._now["result"] = self._now["between"]
            return Durations(7)

        return job

    def restore(self) -> None:
        self._now["result"] = self._original["result"]

    def reset(self) -> None:
        self._now = dict(self._original)

    def outputs(self) -> dict[str, Array]:
        return {"result": self._now["result"]}


class RememberingMachine(PretendedMachine):
    def place(self, workload: Workload) -> OpenClExecutor:
        return RememberingExecutor(workload)


def two_steps(*, with_reference: bool) -> Session:
    buffers = {"between": np.full(4, -2), "result": np.full(4, -1)}
    reference = (lambda: {"result": np.arange(4)}) if with_reference else None

    def make_workload(*_arguments: object) -> Workload:
        return Workload(buffers, (), ("result",), reference)

    made = replace(small_benchmark(feasible=True), make_workload=make_workload)
    return Session(RememberingMachine(), made, "large", 0)


@pytest.mark.parametrize("with_reference", [True, False])
def test_what_one_kernel_left_behind_does_not_make_another_one_right(*, with_reference: bool) -> None:
    session = two_steps(with_reference=with_reference)
    for text, wrong in (("right", 0), ("lazy", 1), ("right", 0)):
        session.load(Slot.CANDIDATE, COARSENED, replace(ORIGINAL, content=text))
        session.expect(Slot.CANDIDATE, ORIGINAL)
        assert len(session.try_out(Slot.CANDIDATE).wrong) == wrong


def test_an_oracle_that_writes_nothing_is_none() -> None:
    session = two_steps(with_reference=False)
    session.load(Slot.CANDIDATE, COARSENED, ORIGINAL)
    with pytest.raises(LaunchError, match="leaves all outputs as they were"):
        session.expect(Slot.CANDIDATE, replace(ORIGINAL, content="idle"))


class LaunchingExecutor(PretendedExecutor):
    """Gives the first extent of its local size where the code says so, as a kernel that cares for its groups."""

    def load(
        self,
        code: Code,
        variant: Variant,
        binary: bytes | None = None,
        launches: Sequence[Launch] | None = None,
    ) -> Job:
        (launch,) = self.workload.launches if launches is None else launches
        result = launch.local_size[0] if "groups matter" in str(code.content) else 1

        def job(_clock: Clock) -> Durations:
            self._results = {"result": np.full(4, result)}
            return Durations(7)

        return job


class LaunchingMachine(PretendedMachine):
    def place(self, workload: Workload) -> OpenClExecutor:
        self.placed.append(workload)
        return LaunchingExecutor(workload)


@pytest.mark.parametrize("text", ["groups matter", "groups don't"])
def test_other_local_sizes_are_compared_with_the_launch_as_it_is(text: str) -> None:
    def make_workload(_size: object, local_size: LocalSize, _generator: object) -> Workload:
        return Workload({"result": np.full(4, -1)}, (Launch("mt", (64,), local_size, ()),), ("result",), None)

    made = replace(small_benchmark(feasible=False), make_workload=make_workload)
    machine = LaunchingMachine()
    session = Session(machine, made, "large", 0, shared_local_size=(32, 32))
    code = replace(ORIGINAL, content=text)
    wrong = {}
    for local_size in ((16, 64), (32, 32)):
        session.load(Slot.CANDIDATE, Variant(local_size), code)
        session.expect(Slot.CANDIDATE, code)
        trial = session.try_out(Slot.CANDIDATE)
        wrong[local_size] = len(trial.wrong), trial.oracle
    assert wrong == {
        (16, 64): (int(text == "groups matter"), CheckedAgainst.UNCOARSENED),
        (32, 32): (0, CheckedAgainst.NOTHING),
    }
    assert len(machine.placed) == 1


class MacroExecutor(PretendedExecutor):
    """Gives what the code says, times the global size of its launch."""

    def load(
        self,
        code: Code,
        variant: Variant,
        binary: bytes | None = None,
        launches: Sequence[Launch] | None = None,
    ) -> Job:
        (launch,) = self.workload.launches if launches is None else launches
        number = int(code.content) * launch.global_size[0]

        def job(_clock: Clock) -> Durations:
            self._results = {"result": np.full(4, number)}
            return Durations(7)

        return job


class MacroMachine(PretendedMachine):
    def place(self, workload: Workload) -> OpenClExecutor:
        self.placed.append(workload)
        return MacroExecutor(workload)


STEP_1, STEP_2 = Variant((8,), (), (("STEP", "1"),)), Variant((4,), (), (("STEP", "2"),))


def stepping(input_macros: tuple[str, ...] | None) -> Benchmark:
    """A kernel whose launch depends on a macro, as its code does."""

    def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
        return (Launch("mt", (64 // size["STEP"],), local_size, ()),)

    def make_workload(size: Size, local_size: LocalSize, _generator: object) -> Workload:
        return Workload({"result": np.full(4, -1)}, make_launches(size, local_size), ("result",), None)

    return replace(
        small_benchmark(feasible=False),
        presets={"large": Preset({}, (8,))},
        dimensions=(0,),
        tunables={"STEP": ("1", "2")},
        make_workload=make_workload,
        make_launches=make_launches,
        input_macros=input_macros,
        buffers_fit_any_local_size=input_macros is not None,
    )


def test_versions_are_compared_with_the_default_one_on_the_same_buffers() -> None:
    machine = MacroMachine()
    session = Session(machine, stepping(()), "large", 0, default=STEP_1)
    original = replace(ORIGINAL, content="1")
    found = {}
    for candidate, content in (
        (STEP_1, "1"),
        (STEP_2, "2"),
        (STEP_2, "3"),
        (replace(STEP_1, local_size=(4,)), "1"),
    ):
        session.load(Slot.CANDIDATE, candidate, replace(ORIGINAL, content=content))
        session.expect(Slot.CANDIDATE, original)
        trial = session.try_out(Slot.CANDIDATE)
        found[candidate, content] = len(trial.wrong), trial.oracle
    assert [*found.values()] == [
        (0, CheckedAgainst.NOTHING),
        (0, CheckedAgainst.DEFAULT),
        (1, CheckedAgainst.DEFAULT),
        (0, CheckedAgainst.DEFAULT),
    ]
    assert len(machine.placed) == 1


def test_a_default_version_of_other_inputs_is_no_oracle() -> None:
    session = Session(MacroMachine(), stepping(None), "large", 0, default=STEP_1)
    session.load(Slot.CANDIDATE, STEP_2, replace(ORIGINAL, content="2"))
    with pytest.raises(LaunchError, match="the default version has other inputs"):
        session.expect(Slot.CANDIDATE, replace(ORIGINAL, content="1"))


@pytest.mark.parametrize("input_macros", [None, (), ("STEP",)])
def test_without_a_default_each_macro_value_vouches_for_itself(input_macros: tuple[str, ...] | None) -> None:
    machine = MacroMachine()
    session = Session(machine, stepping(input_macros), "large", 0)
    for candidate, content in ((replace(STEP_1, local_size=(4,)), "1"), (STEP_2, "3")):
        code = replace(ORIGINAL, content=content)
        session.load(Slot.CANDIDATE, candidate, code)
        session.expect(Slot.CANDIDATE, code)
        assert session.try_out(Slot.CANDIDATE).wrong == ()
    assert len(machine.placed) == (1 if input_macros == () else 2)
