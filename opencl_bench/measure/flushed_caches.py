"""How much other memory must be written until a device's caches hold nothing of a workload any more."""

from __future__ import annotations

from pathlib import Path

# Devices report one level of cache, not always the last: several times its size clears all levels.
FLUSHED_CACHES = 4
# A processor's last level is known, but what leaves it first isn't always what lay there longest.
FLUSHED_HOST_CACHES = 2
LEAST_FLUSHED_BYTES = 64 << 20

_HOST_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def flushed_bytes(device_cache: int, host_cache: int = 0) -> int:
    """Return how many bytes to write.

    Args:
        device_cache: bytes of the level that the device reports; 0 where it reports none.
        host_cache: bytes of the processor's last level, for a device that is the processor; 0 for others.
    """
    return max(FLUSHED_CACHES * device_cache, FLUSHED_HOST_CACHES * host_cache, LEAST_FLUSHED_BYTES)


def host_cache_bytes(caches: Path = _HOST_CACHES) -> int:
    """Return the bytes of the largest cache of this machine's first processor; 0 where the system doesn't tell.

    Args:
        caches: the folder in which Linux lists them.
    """
    return max((_size(path) for path in caches.glob("index*/size")), default=0)


def _size(path: Path) -> int:
    """Return the bytes that a file means, such as `266240K`; 0 where it can't be read."""
    try:
        text = path.read_text(encoding="ascii").strip()
        unit = _UNITS.get(text[-1:], 1)
        return int(text.rstrip("KMG")) * unit
    except (OSError, ValueError):
        return 0
