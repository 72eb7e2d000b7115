"""The kernels that a default model learned from, as its card tells them by their identity."""

from __future__ import annotations

from collections.abc import Mapping

# A kernel's name, and the devices that it was learned for; none for all.
Known = tuple[str, tuple[str, ...]]


def known_kernels(data: Mapping[str, object]) -> Mapping[str, Known]:
    """Return the kernels by identity. A card of before they were written down tells of none.

    Args:
        data: what the card says of it.
    """
    published = tuple(_names(data.get("best_factors")))
    found: dict[str, Known] = {
        identity: (name, published) for name, identity in _names(data.get("best_factor_identities")).items()
    }
    # What has a curve was learned for all devices.
    found |= {identity: (name, ()) for name, identity in _names(data.get("identities")).items()}
    return {identity: known for identity, known in found.items() if identity}


def _names(written: object) -> dict[str, str]:
    return {str(name): str(value) for name, value in written.items()} if isinstance(written, dict) else {}
