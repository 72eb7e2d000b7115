"""A pack's plan as JSON, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.candidate import FORMS, Form, candidate_from_json
from coarsen.opencl_bench.records.json_fields import JsonFields
from coarsen.opencl_bench.records.measurement import Invalidity, Method, Subject
from coarsen.opencl_bench.records.measurement_json import check_local_size
from coarsen.opencl_bench.sweep.pack.plan import (
    FORMAT,
    CodeEntry,
    Packed,
    PackedCandidate,
    PackedSweep,
    PackPlan,
)
from coarsen.opencl_bench.sweep.plan import Space

_HASH = re.compile(r"[0-9a-f]{64}")


def plan_to_json(packed: Packed) -> dict[str, Any]:
    """The plan as dictionaries, lists, texts and numbers; `plan_from_json` reads it back."""
    return {
        "format": FORMAT,
        "versions": dict(packed.plan.versions),
        "codes": {code_hash: asdict(entry) for code_hash, entry in packed.codes.items()},
        "sweeps": [_sweep_to_json(sweep) for sweep in packed.plan.sweeps],
    }


def plan_from_json(value: object) -> Packed:
    """The plan that `plan_to_json` wrote. Raises InvalidInputError where it is none, or of another format."""
    fields = JsonFields(value, "the plan")
    version = fields.whole("format")
    if version != FORMAT:
        raise InvalidInputError(f"the plan has format {version}; this version of coarsen reads format {FORMAT}")
    try:
        versions = tuple((str(name), str(text)) for name, text in _mapping(fields.take("versions")).items())
        codes = {_hash(name): _code_entry(entry) for name, entry in _mapping(fields.take("codes")).items()}
        sweeps = tuple(_sweep_from_json(entry) for entry in _list(fields.take("sweeps")))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InvalidInputError(f"the plan is damaged: {error!r}") from error
    fields.end()
    packed = Packed(PackPlan(versions, sweeps), codes)
    _check_codes(packed)
    return packed


def _sweep_to_json(sweep: PackedSweep) -> dict[str, Any]:
    return {
        "benchmark": sweep.benchmark,
        "preset": sweep.preset,
        "seed": sweep.seed,
        "form": sweep.form,
        "method": asdict(sweep.method),
        "space": asdict(sweep.space),
        "subjects": [[dict(definitions), asdict(subject)] for definitions, subject in sweep.subjects],
        "candidates": [_candidate_to_json(candidate) for candidate in sweep.candidates],
        "content_hash": sweep.content_hash,
    }


def _candidate_to_json(packed: PackedCandidate) -> dict[str, Any]:
    value: dict[str, Any] = {"candidate": packed.candidate.to_json()}
    if packed.code is not None:
        return {**value, "code": packed.code, "seconds": packed.seconds}
    return {**value, "invalidity": packed.invalidity.value, "failure": packed.failure, "seconds": packed.seconds}


def _sweep_from_json(value: object) -> PackedSweep:
    fields = JsonFields(value, "a sweep of the plan")
    sweep = PackedSweep(
        benchmark=_inside(fields.text("benchmark")),
        preset=fields.text("preset"),
        seed=fields.whole("seed"),
        form=_form(fields.text("form")),
        method=Method(**_mapping(fields.take("method"))),
        space=_space(_mapping(fields.take("space"))),
        subjects=tuple(_subject(entry) for entry in _list(fields.take("subjects"))),
        candidates=tuple(_candidate(_mapping(entry)) for entry in _list(fields.take("candidates"))),
        content_hash=fields.text("content_hash") if "content_hash" in _mapping(value) else "",
    )
    fields.end()
    if not sweep.subjects or not sweep.candidates:
        raise ValueError(f"the sweep of {sweep.benchmark} has no candidates")
    return sweep


def _space(value: Mapping[str, Any]) -> Space:
    dimensions, local_sizes = value["dimensions"], value["local_sizes"]
    return Space(
        factors=tuple(value["factors"]),
        strides=tuple(value["strides"]),
        dimensions=None if dimensions is None else tuple(dimensions),
        local_sizes=None if local_sizes is None else tuple(tuple(extents) for extents in local_sizes),
        definitions=tuple((name, tuple(texts)) for name, texts in value["definitions"]),
    )


def _subject(value: object) -> tuple[tuple[tuple[str, str], ...], Subject]:
    definitions, fields = _list(value)
    return tuple(sorted(definitions.items())), Subject(
        **{
            **fields,
            "build_options": tuple(fields["build_options"]),
            "size": tuple((name, int(extent)) for name, extent in fields["size"]),
        }
    )


def _candidate(value: Mapping[str, Any]) -> PackedCandidate:
    candidate = candidate_from_json(value["candidate"])
    check_local_size(candidate.local_size)
    seconds = float(value["seconds"])
    if "code" in value:
        return PackedCandidate(candidate, _hash(value["code"]), seconds)
    return PackedCandidate(candidate, None, seconds, Invalidity(value["invalidity"]), str(value["failure"]))


def _code_entry(value: object) -> CodeEntry:
    fields = JsonFields(value, "a code of the plan")
    entry = CodeEntry(_form(fields.text("form")), fields.text("kernel"), fields.texts("options"))
    fields.end()
    return entry


def _check_codes(packed: Packed) -> None:
    for sweep in packed.plan.sweeps:
        for candidate in sweep.candidates:
            if candidate.code is not None and candidate.code not in packed.codes:
                raise InvalidInputError(f"the plan does not say what the code {candidate.code[:12]} is")


def _inside(benchmark: str) -> str:
    """A benchmark's name, or a path that does not lead out of the pack."""
    path = PurePosixPath(benchmark)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"the path {benchmark} leads out of the pack")
    return benchmark


def _hash(text: object) -> str:
    if not isinstance(text, str) or not _HASH.fullmatch(text):
        raise ValueError(f"{text!r} is no hash")
    return text


def _form(name: str) -> Form:
    for form in FORMS:
        if form == name:
            return form
    raise ValueError(f"{name!r} is no form of code")


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!a} is no JSON object")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!a} is no list")
    return value
