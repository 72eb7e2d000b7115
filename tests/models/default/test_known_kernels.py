"""The kernels that a default model learned from, as its card names them."""

from __future__ import annotations

from dataclasses import replace

from coarsen.features import feature_tables
from coarsen.frontend.lower import lower
from coarsen.models.default.known_kernels import known_kernels
from coarsen.models.default.storage import load_default
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.opencl_bench.workloads.lookup import SUITE


def test_best_factors_are_of_their_devices_and_curves_of_all() -> None:
    data = {
        "best_factors": {"tahiti": 17, "fermi": 17},
        "identities": {"own": "aa", "both": "bb"},
        "best_factor_identities": {"both": "bb", "mt": "cc", "unknown": ""},
    }
    assert known_kernels(data) == {"aa": ("own", ()), "bb": ("both", ()), "cc": ("mt", ("tahiti", "fermi"))}
    assert known_kernels({}) == known_kernels({"identities": ["aa"]}) == {}


def test_the_shipped_model_names_what_it_was_adjusted_to() -> None:
    model, driver = load_default(), SUITE["reduce"]
    tables = feature_tables(lower(driver.source, driver.kernel, driver.build_options))
    named = {
        device: model.predict(*tables, DEVICE_DESCRIPTORS[device]).training_kernel
        for device in ("tahiti", "intel")
    }
    assert named == {"tahiti": "reduce", "intel": None}
    other = replace(tables[0], identity="0" * 16)
    assert model.predict(other, tables[1], DEVICE_DESCRIPTORS["tahiti"]).training_kernel is None
