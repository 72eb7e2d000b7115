"""Label of a device in a figure: short, and different from every other's.

pthread-skylake-avx512-AMD EPYC, Portable Computing Language  ->  AMD EPYC (PoCL)
"""

from __future__ import annotations

import re
from types import MappingProxyType

import pandas as pd

PLATFORMS = MappingProxyType(
    {
        "portable computing language": "PoCL",
        "intel(r) opencl": "Intel",
        "intel(r) opencl graphics": "Intel graphics",
        "nvidia cuda": "OpenCL",  # what it calls itself is misread as CUDA kernels
        "nvidia cuda driver": "PTX",
        "amd accelerated parallel processing": "AMD APP",
        "oclgrind": "Oclgrind",
    }
)
FORMS = MappingProxyType({"opencl_c": "OpenCL C", "spirv": "SPIR-V", "ptx": "PTX"})

# PoCL puts its driver and perhaps LLVM's name of the CPU before the device's own name.
_POCL_PREFIX = re.compile(r"^(?:pthread|cpu|basic)-(?:[a-z0-9_-]+-)?(?=[A-Z])")
_NOISE = re.compile(
    r"\((?:R|TM|C)\)|\bCPU\b|@ ?[\d.]+ ?GHz|\b(?:\d+|\w+)-Core\b|\bProcessor\b|\bwith .* Graphics\b",
    re.IGNORECASE,
)
_IDENTITY = ["device", "platform", "platform_version", "driver_version", "form", "cold_cache"]


def device_labels(rows: pd.DataFrame) -> pd.Series:
    """Return a label for each row: the same for one device, driver, form of code and state of the caches.

    The form, the driver's version, a cold cache and the like are named only where rows would be called alike
    without.
    """
    places = rows[_IDENTITY].drop_duplicates()
    names = pd.Series(
        [_name(device, platform) for device, platform in zip(places["device"], places["platform"], strict=True)],
        index=places.index,
        dtype=object,
    )
    for column, describe in _DISTINCTIONS:
        names = names + _distinction(names, places[column].map(describe))
    known = dict(zip(places.itertuples(index=False, name=None), names, strict=True))
    return pd.Series(
        [known[identity] for identity in rows[_IDENTITY].itertuples(index=False, name=None)],
        index=rows.index,
        dtype=object,
    )


def short_device(name: str) -> str:
    """Return a device's name without clock rate, number of cores, trade marks and PoCL's prefix."""
    words = _NOISE.sub(" ", _POCL_PREFIX.sub("", name)).split()
    return " ".join(words) or name


def short_platform(name: str) -> str:
    """Return a platform's name as its users call it."""
    return PLATFORMS.get(name.strip().casefold(), " ".join(_NOISE.sub(" ", name).split()) or name)


def _name(device: str, platform: str) -> str:
    return f"{short_device(device)} ({short_platform(platform)})" if platform else short_device(device)


def _distinction(names: pd.Series, words: pd.Series) -> pd.Series:
    """For each place what sets it apart from the others of its name; nothing where they all agree in it."""
    differing = words.groupby(names).transform("nunique") > 1
    return (", " + words).where(differing & (words != ""), "")


_DISTINCTIONS = (
    ("form", lambda form: FORMS.get(form, form)),
    ("driver_version", lambda version: f"driver {version}"),
    ("cold_cache", lambda cold: "cold cache" if cold else ""),
    ("platform_version", str),
    ("device", str),
    ("platform", str),
)
