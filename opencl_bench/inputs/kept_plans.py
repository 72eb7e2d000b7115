"""Plans of kernels, made once: the choices are kept by all that they depend on, the program among it.

times, settings, first stage, this program ─▶ SHA-256 ─▶ kept? its choices : planned, and kept
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from coarsen import dispatch
from coarsen.models import inputs as models
from coarsen.models.inputs.judging import Plan, Study, plan
from coarsen.models.inputs.plan_json import plan_from_json, plan_to_json
from coarsen.opencl_bench import inputs, search
from coarsen.opencl_bench.inputs.kept_searches import KeptSearches

# Where choices are made, and what they are computed with.
_PROGRAM = (dispatch, models, inputs, search)
_LIBRARIES = ("numpy", "scikit-learn", "scipy")


def planned(study: Study, kept: KeptSearches | None) -> Plan:
    """Return a study's plan: the kept one, or one that is made now and kept.

    Args:
        study: whose first stage is replayed with the kept searches.
        kept: None where nothing is.

    Raises:
        InvalidInputError: there are less than two groups of inputs; a kept plan can't be read.
    """
    if kept is None or study.size_of is not None:
        return plan(study)
    key = study_key(study)
    if key in kept.plans:
        return plan_from_json(study, kept.plans[key])
    made = plan(study)
    kept.keep_plan(key, plan_to_json(made))
    return made


def study_key(study: Study) -> str:
    """Return the SHA-256 of all that a study's plan depends on, in hexadecimal digits."""
    digest = hashlib.sha256()
    for part in (*_content(study), _program_hash()):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def _content(study: Study) -> Iterator[bytes]:
    times, settings = study.times, study.settings
    yield study.kernel.encode()
    yield json.dumps([[each.name, each.group, sorted(each.features.items())] for each in times.inputs]).encode()
    yield repr(times.versions).encode()
    yield times.seconds.tobytes()
    yield times.endings.tobytes()
    yield repr((times.default, settings.margin, sorted(settings.supplied), settings.most)).encode()
    yield repr(study.stage_one).encode()


@cache
def _program_hash() -> bytes:
    """The SHA-256 of the sources that choices are made by, and of the libraries' versions."""
    digest = hashlib.sha256(repr([(name, version(name)) for name in _LIBRARIES]).encode())
    for package in _PROGRAM:
        for file in sorted(Path(str(package.__file__)).parent.glob("*.py")):
            digest.update(
                f"{package.__name__}/{file.name}\0".encode() + hashlib.sha256(file.read_bytes()).digest()
            )
    return digest.digest()
