"""What is put into a store comes out of it, once, in order, by the filter."""

from __future__ import annotations

import threading

import pytest
from hypothesis import HealthCheck, given, settings

from coarsen.errors import InvalidInputError
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.tuning.store.database import BATCH, Store, open_store
from coarsen.tuning.store.schema import Filter
from tests.opencl_bench.measurements import measurements, several_measurements, some_measurement


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(measurement=measurements())
def test_nothing_is_lost(store: Store, measurement: Measurement) -> None:
    store.replace(measurement)
    found = store.find(measurement.key)
    assert found == measurement
    assert found.key == measurement.key


def test_a_key_is_stored_once(store: Store) -> None:
    first, second = some_measurement(), some_measurement(reason="another time", timed_seconds=9.0)
    assert first.key == second.key
    assert store.add(first)
    assert not store.add(second)
    assert list(store.measurements()) == [first]


def test_replacing(store: Store) -> None:
    first, other, second = (
        some_measurement(),
        some_measurement(seed=1),
        some_measurement(invalidity=Invalidity.TIMEOUT),
    )
    store.add_all([first, other])
    store.replace(second)
    assert store.find(first.key) == second
    assert store.find(other.key) == other
    assert store.count() == 2


def test_several_at_once(store: Store) -> None:
    several = several_measurements(BATCH + 3)
    assert store.add_all(several[:2]) == 2
    assert store.add_all(iter(several)) == BATCH + 1
    assert list(store.measurements()) == several


def test_order(store: Store) -> None:
    several = several_measurements(5)
    for measurement in reversed(several):
        store.add(measurement)
    together = [some_measurement(preset="test", seed=seed) for seed in range(9)]
    together.sort(key=lambda measurement: measurement.key)
    store.add_all(reversed(together))
    assert list(store.measurements()) == [*together, *several]


def test_what_is_not_there(store: Store) -> None:
    assert store.find("0" * 64) is None
    assert store.find("") is None
    assert list(store.measurements()) == []
    assert store.count() == 0


VARIANTS = {
    "nbody": some_measurement(benchmark="nbody"),
    "failed": some_measurement(invalidity=Invalidity.COMPILE),
    "selection": some_measurement(role=Role.SELECTION, baseline=None),
    "test": some_measurement(preset="test"),
    "pocl": some_measurement(
        device="cpu-skylake-Intel(R) Xeon(R)",
        vendor="GenuineIntel",
        platform="Portable Computing Language",
        platform_version="OpenCL 3.0 PoCL 3.1",
    ),
    "tahiti": some_measurement(device="Tahiti 100%_", vendor="AMD", platform="AMD APP", platform_version="2.0 X"),
}
FILTERS = [
    (Filter(), {"nbody", "failed", "selection", "test", "pocl", "tahiti"}),
    (Filter(benchmark="nbody"), {"nbody"}),
    (Filter(benchmark="n"), set()),
    (Filter(preset="test"), {"test"}),
    (Filter(role=Role.SELECTION), {"selection"}),
    (Filter(invalidity=Invalidity.COMPILE), {"failed"}),
    (Filter(device="tAHI"), {"tahiti"}),
    (Filter(device="amd app"), {"tahiti"}),
    (Filter(device="2.0 x"), {"tahiti"}),
    (Filter(device="genuine"), {"nbody", "failed", "selection", "test", "pocl"}),
    # The runtime, not another one on a processor of that name.
    (Filter(device="intel"), {"nbody", "failed", "selection", "test"}),
    (Filter(device="pocl"), {"pocl"}),
    (Filter(device="100%_"), {"tahiti"}),
    (Filter(device="T%i"), set()),
    (Filter(key_prefix=VARIANTS["test"].key[:9]), {"test"}),
    (Filter(key_prefix=VARIANTS["test"].key.upper()), {"test"}),
    (Filter(key_prefix="%"), set()),
    (Filter(benchmark="sgemm", device="xeon", preset="cpu", role=Role.COMPARISON), {"failed", "pocl"}),
]


def test_filters(store: Store) -> None:
    store.add_all([*VARIANTS.values()])
    for chosen, names in FILTERS:
        found = {measurement.key for measurement in store.measurements(chosen)}
        expected = {VARIANTS[name].key for name in names}
        assert found == expected, chosen
        assert store.count(chosen) == len(names), chosen


def test_what_could_not_be_read_back_is_not_stored(store: Store) -> None:
    with pytest.raises(InvalidInputError, match="must be text"):
        store.add(some_measurement(device="\0"))
    assert store.count() == 0


def test_the_location_opens_the_store_again(store: Store) -> None:
    store.add(some_measurement())
    with open_store(store.location) as again:
        assert again.count() == 1


def test_writing_while_reading(store: Store) -> None:
    several = several_measurements(4)
    store.add_all(several[:3])
    read = []
    for measurement in store.measurements():
        store.add(several[3])
        read.append(measurement)
    assert read == several[:3]
    assert store.count() == 4


def test_threads_may_share_a_store(store: Store) -> None:
    several = several_measurements(30)
    results: list[bool] = []

    def write() -> None:
        results.extend([store.add(measurement) for measurement in several])

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (results.count(True), results.count(False)) == (30, 60)
    assert list(store.measurements()) == several
