"""Sweeps on the workers of a Dask cluster, which offer devices as resources and write to one store.

    client ── a task for each plan ──▶ scheduler ──▶ a worker that offers the plan's device ── rows ──▶ store
       ▲                                                                                                 │
       └───────────────────────────────── counts rows, reads them in the end ────────────────────────────┘

A worker is started with the names that plans give to its devices, in small letters. On one machine all listen to
the loopback; on several they need TLS, since a scheduler runs whatever code it is sent, and checks no identity:

    dask scheduler --host 127.0.0.1
    dask worker tcp://127.0.0.1:8786 --host 127.0.0.1 --resources "pocl=1"

    dask scheduler --protocol tls --tls-ca-file CA.pem --tls-cert HERE.pem --tls-key HERE.key
    dask worker tls://HOST:8786 --tls-ca-file CA.pem --tls-cert THERE.pem --tls-key THERE.key --resources "pocl=1"

No password travels: a worker has that of the store in its own environment, as `COARSEN_STORE` or in a way that
PostgreSQL's client library knows (`PGPASSFILE`, `PGPASSWORD`).

When a worker dies, the scheduler gives its task to another one that offers the device; the rows that are in the
store already are found there.
"""

from __future__ import annotations

import ipaddress
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from distributed import Client, Future, KilledWorker, get_worker
from distributed.security import Security

from coarsen.errors import CoarsenError, DeviceError, InvalidInputError
from coarsen.opencl_bench.sweep.several import SweepResult, SweepsObserver, sweep_one
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.observer import SweepObserver
from coarsen.tuning.engine.plan import SweepPlan
from coarsen.tuning.progress import Remeasure
from coarsen.tuning.records.measurement import Invalidity
from coarsen.tuning.store.connection import shown
from coarsen.tuning.store.connection import store_url as parsed_url
from coarsen.tuning.store.database import Store, open_store
from coarsen.tuning.store.place import STORE_VARIABLE
from coarsen.tuning.store.schema import Filter

SECONDS_BETWEEN_COUNTS = 0.5
# The time a device may be without a worker (while one restarts, say) before its sweeps are given up.
SECONDS_WITHOUT_WORKER = 60.0
# Of a task that fails unexpectedly; a worker that dies isn't counted here, but by the scheduler.
RETRIES = 1


def sweep_on_cluster(
    plans: Sequence[SweepPlan],
    store: Store,
    store_url: str | None,
    scheduler: Scheduler,
    observer: SweepsObserver,
    again: Remeasure = Remeasure.NOTHING,
) -> list[SweepResult]:
    """Sweep each plan on a worker that offers its device; what each came to, in the plans' order.

    Args:
        plans: as for `sweep`; the files of users' kernels must be there on the workers too.
        store: the open store.
        store_url: how a worker opens it; None for the default.
        scheduler: the Dask scheduler.
        observer: receives the number of rows, and each finished sweep.
        again: which stored rows are measured once more.

    Raises:
        InvalidInputError: the scheduler can't be reached, or anybody could listen; the store has failed.
        DeviceError: no worker offers one of the devices.
    """
    filters = {Filter(benchmark=find_benchmark(plan.benchmark).name, preset=plan.preset) for plan in plans}
    with connected(scheduler) as client:
        _check_offers(client, {_resource(plan) for plan in plans}, scheduler)
        url = shown(parsed_url(store_url))
        stored = (row for chosen in filters for row in store.measurements(chosen))
        before = frozenset(row.key for row in stored if row.invalidity is not Invalidity.CONSTRAINTS)
        futures = [_submit(client, plan, again, url, store.identity) for plan in plans]
        try:
            tasks = list(zip(plans, futures, strict=True))
            return _Gathering(client, store, observer, filters, before, tasks).results()
        finally:
            client.cancel(futures)


def _submit(client: Client, plan: SweepPlan, again: Remeasure, url: str, identity: str) -> Future:
    """Begin to sweep a plan on a worker; the URL of the store has no password."""
    return client.submit(
        _sweep_here,
        plan,
        again,
        url,
        identity,
        key=f"sweep-{Path(plan.benchmark).stem}-{_resource(plan)}-{uuid.uuid4().hex}",
        resources={_resource(plan): 1},
        retries=RETRIES,
        pure=False,
    )


def _resource(plan: SweepPlan) -> str:
    return plan.device.lower()


def _offers(client: Client) -> set[str]:
    """The devices that workers offer now."""
    return {name for worker in client.scheduler_info()["workers"].values() for name in worker["resources"]}


def _check_offers(client: Client, wanted: set[str], scheduler: Scheduler) -> None:
    offers = _offers(client)
    missing = sorted(wanted - offers)
    if missing:
        options = "--tls-ca-file CA.pem --tls-cert CERTIFICATE.pem --tls-key KEY.pem"
        raise DeviceError(
            f"no worker of {scheduler.address} offers the device '{missing[0]}' (they offer: "
            f"{', '.join(sorted(offers)) or 'nothing'}); start one: dask worker {scheduler.address} "
            f"{options if scheduler.is_encrypted else '--host 127.0.0.1'} --resources '{missing[0]}=1'"
        )


@dataclass(slots=True)
class _Gathering:
    """Waits for the tasks, reports their progress, and reads their rows from the store.

    Attributes:
        client: connected to the scheduler.
        store: where the workers write.
        observer: receives the progress.
        filters: let the rows of the plans through; rows of other devices are among them.
        before: the keys of the feasible rows that were there before the tasks.
        tasks: each plan with its task.
        done: the results so far, by the number of the task.
        without_worker: since when devices have been without a worker.
    """

    client: Client
    store: Store
    observer: SweepsObserver
    filters: set[Filter]
    before: frozenset[str]
    tasks: Sequence[tuple[SweepPlan, Future]]
    done: dict[int, SweepResult] = field(default_factory=dict)
    without_worker: dict[str, float] = field(default_factory=dict)

    def results(self) -> list[SweepResult]:
        """Wait for all plans; return the result of each."""
        while True:
            for index, (plan, future) in enumerate(self.tasks):
                if index not in self.done and (future.done() or self._is_given_up(plan)):
                    self.done[index] = self._result(plan, future)
                    self.observer.finished(self.done[index])
            self._tell()
            if len(self.done) == len(self.tasks):
                return [self.done[index] for index in range(len(self.tasks))]
            time.sleep(SECONDS_BETWEEN_COUNTS)

    def _tell(self) -> None:
        infeasible = (replace(chosen, invalidity=Invalidity.CONSTRAINTS) for chosen in self.filters)
        count = sum(map(self.store.count, self.filters)) - sum(map(self.store.count, infeasible))
        finished = self.done.values()
        measured = max(count - len(self.before), sum(len(result.measured) for result in finished))
        found = sum(len(result.feasible_rows) - len(result.measured) for result in finished)
        self.observer.counted(found + measured, measured)

    def _is_given_up(self, plan: SweepPlan) -> bool:
        """Return True if the plan's device has been without a worker for long."""
        name = _resource(plan)
        if name in _offers(self.client):
            self.without_worker.pop(name, None)
            return False
        since = self.without_worker.setdefault(name, time.monotonic())
        return time.monotonic() - since > SECONDS_WITHOUT_WORKER

    def _result(self, plan: SweepPlan, future: Future) -> SweepResult:
        if not future.done():
            problem = f"no worker offers the device '{_resource(plan)}' any more"
            return _failed(plan, problem, DeviceError.exit_code)
        try:
            answer = future.result()
        except KilledWorker as error:
            deaths = error.allowed_failures + 1
            problem = (
                f"given up: {deaths} workers died while they measured it" if deaths > 1 else "its worker died"
            )
            return _failed(plan, problem, DeviceError.exit_code)
        except Exception as error:  # whatever went wrong over there ends this sweep only
            problem = f"on the worker, {type(error).__name__}: {' '.join(str(error).split())}"
            return _failed(plan, problem, CoarsenError.exit_code)
        return self._read(*answer)

    def _read(self, found: SweepResult, keys: Sequence[str]) -> SweepResult:
        """The result with its rows; rows of a worker that has died since count as measured now, too."""
        rows = tuple(row for key in keys if (row := self.store.find(key)) is not None)
        known = found.measured | self.before
        by_others = [row for row in rows if row.key not in known and row.invalidity is not Invalidity.CONSTRAINTS]
        return replace(
            found,
            rows=rows,
            measured=found.measured | {row.key for row in by_others},
            seconds=found.seconds + sum(row.compile_seconds + row.measure_seconds for row in by_others),
        )


def _failed(plan: SweepPlan, problem: str, exit_code: int) -> SweepResult:
    return SweepResult(plan, Path(plan.benchmark).stem, plan.device, problem=problem, exit_code=exit_code)


class _AbandonedError(BaseException):
    """The sweep's result is no longer awaited."""


class _ObserverOnWorker(SweepObserver):
    """Ends the sweep once its task is cancelled or its client has gone."""

    def __init__(self) -> None:
        worker = get_worker()
        self._tasks = worker.state.tasks
        self._key = worker.get_current_task()

    def stored(self, measurement: object, measured: bool) -> None:
        """See `SweepObserver`."""
        task = self._tasks.get(self._key)
        if task is None or task.state not in ("executing", "long-running"):
            raise _AbandonedError


def _sweep_here(plan: SweepPlan, again: Remeasure, url: str, identity: str) -> tuple[SweepResult, tuple[str, ...]]:
    """The task: sweep on this worker. Returns the result without its rows, which the store has, and their keys."""
    try:
        with _same_store(url, identity) as store:
            result = sweep_one(plan, store, _ObserverOnWorker(), again)
    except CoarsenError as error:
        result = _failed(plan, str(error), error.exit_code)
    except _AbandonedError:
        result = _failed(plan, "the sweep was cancelled", CoarsenError.exit_code)
    return replace(result, rows=()), tuple(row.key for row in result.rows)


@contextmanager
def _same_store(url: str, identity: str) -> Iterator[Store]:
    """The client's store, opened here. Raises InvalidInputError where it is another one, or can't be opened."""
    place, here, own = parsed_url(url), get_worker().address, os.environ.get(STORE_VARIABLE, "")
    hint = "workers on other machines need a store that all reach: --store postgresql://…"
    if place.drivername == "sqlite" and not Path(str(place.database)).exists():
        raise InvalidInputError(f"the worker {here} sees no file {place.database}; {hint}")
    # The same database as this worker's own environment has it: with a password.
    has_own = "://" in own and _database(own) == _database(url)
    try:
        store = open_store(own if has_own else url)
    except InvalidInputError as error:
        way = f"no password is sent to workers: set {STORE_VARIABLE} or PGPASSFILE where {here} is started"
        raise InvalidInputError(f"{error} ({way})" if "password" in str(error) else str(error)) from None
    with store:
        if store.identity != identity:
            raise InvalidInputError(f"the worker {here} finds another store at {store.location}; {hint}")
        yield store


def _database(url: str) -> tuple[str, str | None]:
    place = parsed_url(url)
    return place.drivername, place.database


# The way to a Dask scheduler: loopback or TLS, since whoever reaches a scheduler can run code on its workers.

CONNECTING_SECONDS = 10
ENCRYPTED = ("tls://", "wss://")


@dataclass(frozen=True, slots=True)
class Scheduler:
    """A Dask scheduler and how it may be reached.

    `ca_file`, `certificate` and `key` are files in the PEM format for `tls://` addresses; where they are left out,
    Dask's own configuration has them.
    """

    address: str
    ca_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    @property
    def is_encrypted(self) -> bool:
        """Return True if both ends show certificates, and nobody between them can read or change anything."""
        return self.address.lower().startswith(ENCRYPTED)

    def check(self) -> None:
        """Raise InvalidInputError for an address that anybody could listen to."""
        if not (self.is_encrypted or _is_loopback(self.address)):
            raise InvalidInputError(
                f"the scheduler {self.address} is on another machine and not encrypted: whoever reaches it can "
                "run code on all workers. Use TLS (tls://HOST:PORT with --tls FOLDER), or have it listen to "
                "127.0.0.1 alone and reach it by an SSH tunnel"
            )
        if any((self.ca_file, self.certificate, self.key)) and not self.is_encrypted:
            raise InvalidInputError(f"certificates are for tls://, not {self.address}")

    def security(self) -> Security | None:
        """Return Dask's TLS settings; None where there is no TLS. Raises InvalidInputError for missing files."""
        if not self.is_encrypted:
            return None
        files = {"tls_ca_file": self.ca_file, "tls_client_cert": self.certificate, "tls_client_key": self.key}
        given = {name: str(path) for name, path in files.items() if path is not None}
        security = Security(require_encryption=True, **given)
        try:
            complete = security.get_connection_args("client").get("ssl_context") is not None
        except OSError as error:  # also what SSL says of a file that is none
            raise InvalidInputError(f"the certificates for {self.address} can't be used: {error}") from None
        if not complete:
            raise InvalidInputError(f"{self.address} needs certificates: give --tls FOLDER")
        return security


@contextmanager
def connected(scheduler: Scheduler) -> Iterator[Client]:
    """Provide a client of the scheduler while the context lasts.

    Raises:
        InvalidInputError: it can't be reached, or anybody could listen.
    """
    scheduler.check()
    security = scheduler.security()
    try:
        client = Client(scheduler.address, timeout=CONNECTING_SECONDS, set_as_default=False, security=security)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InvalidInputError(f"the scheduler {scheduler.address} can't be reached: {reason}") from None
    with client:
        yield client


def _is_loopback(address: str) -> bool:
    try:
        host = urlsplit(address if "://" in address else f"tcp://{address}").hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
