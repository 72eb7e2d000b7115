"""A device that is not there, as OpenCL would describe it; others are replaced from it."""

from __future__ import annotations

from coarsen.devices.discovery import DeviceDescription

TAHITI = DeviceDescription(
    index="0:0",
    vendor="Advanced Micro Devices, Inc.",
    name="Tahiti",
    driver_version="1.0",
    platform_name="AMD Accelerated Parallel Processing",
    platform_version="OpenCL 2.0",
    opencl_c_version="OpenCL C 1.2",
    il_version="",
    device_types=("gpu",),
    compute_units=32,
    max_work_group_size=256,
    max_work_item_sizes=(256, 256, 256),
    local_memory=32768,
    global_memory=3 << 30,
)
