"""Sweeps on a real cluster: two worker processes, a PostgreSQL store, a worker that is killed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

import psutil
import pytest
from distributed import Client

from coarsen.devices.selection import find_device
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.opencl_bench.sweep.cluster import Scheduler, sweep_on_cluster
from coarsen.opencl_bench.sweep.several import SweepResult, SweepsObserver, planned_rows, sweep
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.engine.plan import Space, SweepPlan, limits_of
from coarsen.tuning.processes.compiler import CompilePool
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.tuning.store.database import open_store
from coarsen.tuning.store.schema import Filter
from tests.opencl_bench.sweep.dask_cluster import PATIENCE, Cluster, cluster, until
from tests.opencl_bench.sweep.small_sweep import METHOD

# One local size: which of several is the baseline, and thus in the keys, would be the clock's choice.
SPACES = {
    "mt": Space((1, 2, 4, 8), (1, 2, 4), (1,), ((32, 32),)),
    "mvCoal": Space((1, 2), (1,), (0,), ((64,),)),
}
# Rows that take so long that a worker can be killed between them.
SLOW = replace(METHOD, repetitions=30, minimum_repetitions=30)
FINE = (Invalidity.CORRECT, Invalidity.CONSTRAINTS)


def plan(benchmark: str, device: str = "intel") -> SweepPlan:
    """One of the two is confirmed, in three more processes."""
    confirms = benchmark == "mvCoal"
    return SweepPlan(benchmark, device, "test", space=SPACES[benchmark], method=SLOW, confirms=confirms)


class Witness(SweepsObserver):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.counts: list[tuple[int, int]] = []
        self.finished_sweeps: list[str] = []

    def counted(self, rows: int, measured: int) -> None:
        self.counts.append((rows, measured))

    def finished(self, result: SweepResult) -> None:
        self.finished_sweeps.append(result.benchmark)


@pytest.fixture
def dask(tmp_path: Path, postgresql_database: str) -> Iterator[Cluster]:
    """A cluster whose workers have the store's password in their own environment."""
    with cluster(tmp_path, COARSEN_STORE=postgresql_database) as found:
        yield found


def keys(rows: Iterable[Measurement]) -> list[str]:
    return sorted(row.key for row in rows)


def kill_the_worker_of(benchmark: str, workers: dict[str, Popen[bytes]], client: Client) -> None:
    """Kill it; what it has started must end with it."""
    tasks = client.processing().items()
    busy = next(address for address, keys in tasks if any(benchmark in key for key in keys))
    worker = workers[client.scheduler_info()["workers"][busy]["name"]]
    started = psutil.Process(worker.pid).children(recursive=True)
    worker.kill()
    assert started, "it was measuring"
    until(lambda: not any(child.is_running() for child in started))


def test_all_rows_arrive_though_a_worker_is_killed(
    dask: Cluster, postgresql_database: str, pool: CompilePool, tmp_path: Path
) -> None:
    witness, plans = Witness(), [plan(name) for name in SPACES]
    workers = {name: dask.worker(name, "intel=1") for name in ("one", "two")}
    dask.wait_for_workers(2)
    of_mt = Filter(benchmark="mt")
    with (
        open_store(postgresql_database) as store,
        Client(dask.address) as client,
        ThreadPoolExecutor() as threads,
    ):
        order = (plans, store, postgresql_database, dask.scheduler, witness)
        future = threads.submit(sweep_on_cluster, *order)
        until(lambda: future.done() or store.count(of_mt) >= 3, dask.log)
        if not future.done():
            kill_the_worker_of("mt", workers, client)
        half_way = store.count(of_mt)
        results = future.result(PATIENCE)
        stored = [row.key for row in store.measurements()]
    assert [(result.benchmark, result.problem) for result in results] == [(name, "") for name in SPACES]
    assert 3 <= half_way < len(results[0].rows)
    assert all(row.invalidity in FINE for result in results for row in result.rows)
    rows = keys(row for result in results for row in result.rows)
    assert sorted(stored) == rows and len({*stored}) == len(stored)
    assert all(len(result.measured) == len(result.rows) for result in results)
    assert sorted(witness.finished_sweeps) == sorted(SPACES)
    assert witness.counts[-1] == (len(rows), len(rows))
    with open_store(str(tmp_path / "local.sqlite")) as local:
        here = [row for each in plans for row in sweep(each, local, pool=pool).rows]
    assert keys(map(decided, here)) == keys(decided(row) for result in results for row in result.rows)


def decided(row: Measurement) -> Measurement:
    """The row without what the clock decides: which configuration was the best."""
    if row.role is not Role.CONFIRMATION:
        return row
    assert row.baseline is not None
    return replace(row, candidate=row.baseline)


class Impatient(SweepsObserver):
    """Is interrupted when the first row has come."""

    def counted(self, rows: int, measured: int) -> None:
        if rows:
            raise KeyboardInterrupt


def test_an_interrupted_sweep_ends_on_the_worker_too(dask: Cluster, postgresql_database: str) -> None:
    worker = psutil.Process(dask.worker("one", "intel=1").pid)
    dask.wait_for_workers(1)
    with open_store(postgresql_database) as store:
        with pytest.raises(KeyboardInterrupt):
            sweep_on_cluster([plan("mt")], store, postgresql_database, dask.scheduler, Impatient())
        until(lambda: not worker.children(recursive=True), dask.log)
        assert 1 <= store.count() < planned_rows(SUITE["mt"], plan("mt"), limits_of(find_device("intel")))


@pytest.mark.parametrize(
    ("allowed_failures", "problem"), [(0, "its worker died"), (3, "no worker offers the device 'intel' any more")]
)
def test_a_device_that_is_lost_for_good(
    allowed_failures: int,
    problem: str,
    postgresql_database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("coarsen.opencl_bench.sweep.cluster.SECONDS_WITHOUT_WORKER", 1.0)
    url = postgresql_database
    with cluster(tmp_path, allowed_failures, COARSEN_STORE=url) as dask, open_store(url) as store:
        worker = dask.worker("one", "intel=1")
        dask.wait_for_workers(1)
        with ThreadPoolExecutor() as pool:
            order = ([plan("mt")], store, postgresql_database, dask.scheduler, SweepsObserver())
            future = pool.submit(sweep_on_cluster, *order)
            until(lambda: future.done() or store.count() > 0, dask.log)
            worker.kill()
            result = future.result(PATIENCE)[0]
    assert (result.benchmark, result.problem, result.exit_code) == ("mt", problem, 4)


def test_what_is_stored_is_not_measured_again_and_failures_are_reported(
    dask: Cluster, postgresql_database: str, pool: CompilePool, tmp_path: Path
) -> None:
    dask.worker("one", "intel=1,gameboy=1")
    dask.wait_for_workers(1)
    with open_store(postgresql_database) as store:
        first = sweep(plan("mvCoal"), store, pool=pool)
        plans = [plan("mvCoal"), plan("mvCoal", "gameboy")]
        again, lost = sweep_on_cluster(plans, store, postgresql_database, dask.scheduler, SweepsObserver())
        assert keys(again.rows) == keys(first.rows) and not again.measured and not again.problem
        assert lost.problem.startswith("no OpenCL device is called 'gameboy'") and lost.exit_code == 4
        with pytest.raises(
            DeviceError, match=r"offers the device 'pocl' \(they offer: gameboy, intel\); start one"
        ):
            sweep_on_cluster([plan("mt", "pocl")], store, postgresql_database, dask.scheduler, SweepsObserver())
    with open_store(str(tmp_path / "here.sqlite")) as here:
        other = sweep_on_cluster([plan("mt")], here, postgresql_database, dask.scheduler, SweepsObserver())[0]
        assert "finds another store at postgresql://" in other.problem and other.exit_code == 2
        unseen = str(tmp_path / "elsewhere.sqlite")
        other = sweep_on_cluster([plan("mt")], here, unseen, dask.scheduler, SweepsObserver())[0]
        assert f"sees no file {unseen}; workers on other machines need" in other.problem


def test_a_scheduler_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coarsen.opencl_bench.sweep.cluster.CONNECTING_SECONDS", 0.5)
    with open_store(str(tmp_path / "results.sqlite")) as store:
        for address in ("tcp://127.0.0.1:1", "nonsense://localhost"):
            with pytest.raises(InvalidInputError, match=f"^the scheduler {address} can't be reached: "):
                sweep_on_cluster([plan("mt")], store, None, Scheduler(address), SweepsObserver())


def test_no_password_is_sent(tmp_path: Path, postgresql_database: str) -> None:
    """A worker without one of its own is refused by the server, and says where it looks for one."""
    with cluster(tmp_path) as dask, open_store(postgresql_database) as store:
        dask.worker("one", "intel=1")
        dask.wait_for_workers(1)
        plans = [plan("mvCoal")]
        result = sweep_on_cluster(plans, store, postgresql_database, dask.scheduler, SweepsObserver())[0]
    assert "no password is sent to workers: set COARSEN_STORE or PGPASSFILE where" in result.problem
    assert result.exit_code == 2
