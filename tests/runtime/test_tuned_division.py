"""What is decided at once of launches that divide is what the chooser of launches says of them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pyopencl as cl
import pytest

from coarsen.devices.discovery import common_macros_of
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.runtime.code import device_options
from coarsen.runtime.launch import OriginalLaunch
from coarsen.runtime.toolchain import package_toolchain
from coarsen.runtime.tuned_building import BuildSettings, BuiltVersion, build_versions
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.runtime.tuned_files import mv_file

pytestmark = pytest.mark.compiled_devices
SOURCE = """
kernel void mv(global int *a, global int *x, int width, int height, global int *y)
{
    y[get_global_id(1) * width + get_global_id(0)] = a[get_global_id(0)] + x[get_global_id(1)];
}
"""
GROUPED = SOURCE.replace("a[get_global_id(0)]", "a[get_local_id(0) + get_group_id(0)]")
REQUIRED = SOURCE.replace("kernel void", "kernel __attribute__((reqd_work_group_size(16, 4, 1))) void")
CONFIGURATIONS = (
    (Coarsening(2, 0),),
    (Coarsening(3, 1),),
    (Coarsening(4, 0, 2), Coarsening(2, 1)),
)
GLOBAL = ((64, 8), (48, 12), (63, 8), (64, 9), (1, 8), (16, 4), (8, 6), (0, 8), (64,), (48,), (7,))
LOCAL = (None, (16, 4), (8, 1), (1, 4), (16, 2), (8, 6), (3, 3), (4096, 8), (16,), (1,), (12,))


@pytest.mark.parametrize("source", [SOURCE, GROUPED, REQUIRED], ids=["free", "grouped", "required"])
def test_it_is_as_the_chooser_says(source: str, context: cl.Context) -> None:
    versions = (
        TunedVersion(Variant(), (TunedLaunch("mv", ("width", "height")),)),
        *(
            TunedVersion(Variant((), configuration), (TunedLaunch("mv", ("width", "height")),))
            for configuration in CONFIGURATIONS
        ),
    )
    device = context.devices[0]
    file = replace(mv_file(device), features=(), versions=versions, tree=Leaf(0), tree_without_supplied=None)
    settings = BuildSettings(
        context, source, device_options(None), None, package_toolchain(common_macros_of(context.devices)), False
    )
    built, problems = build_versions(file, settings, range(len(versions)))
    assert not problems or source is REQUIRED
    decided = 0
    for version, sizes in itertools.product(built[1:], itertools.product(GLOBAL, LOCAL)):
        if not isinstance(version, BuiltVersion):
            continue
        found = version.facts[device.int_ptr].decided(*sizes, 0)
        if found is None:
            continue
        decided += 1
        launch = version.launches.choose(OriginalLaunch(device, *sizes))
        assert (launch.global_size, launch.local_size) == found[1:], sizes
        assert version.launches.variant_of(launch) is found[0], sizes
    assert (decided == 0) == (source is REQUIRED)
