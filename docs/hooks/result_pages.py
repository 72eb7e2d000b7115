"""The columns of results, in files and as data frames, from the code that writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import pyarrow as pa

from coarsen.opencl_bench import shipped_results
from coarsen.opencl_bench.results.exchange.tables import COLUMNS as FILE_COLUMNS
from coarsen.opencl_bench.results.exchange.tables import Column
from coarsen.opencl_bench.results.frames import COLUMNS as FRAME_COLUMNS

_SIZES = "numbers, one for each dimension of the NDRange"
_COMMON: Mapping[str, str] = MappingProxyType(
    {
        "key": "SHA-256 of what identifies the row: kernel, configuration, sizes, device, versions, method",
        "benchmark": "name of the suite, `synthetic-0-NUMBER`, `launch-0-NUMBER`, or of the user's file",
        "kernel": "the kernel's name in its source",
        "preset": "the sizes that were measured: `test`, `cpu`, `gpu`, `paper`, or a user's own",
        "seed": "seed of the inputs",
        "device": "the device's name, as its driver says it",
        "vendor": "the device's vendor",
        "platform": "the OpenCL platform's name",
        "platform_version": "the platform's version",
        "driver_version": "the driver's version",
        "compute_units": "compute units (cores) that the device reports",
        "form": "what the device was given: `opencl_c`, `spirv` or `ptx`",
        "role": "`selection`, `comparison` or `confirmation`",
        "invalidity": "how it ended: `correct`, or why there is no time",
        "reason": "why it is not correct, in one line; empty where it is",
        "oracle": "what outputs were compared with: `reference`, `uncoarsened`, `default` (version), `nothing`",
        "compile_seconds": "seconds of wall-clock time spent on compiling",
        "measure_seconds": "seconds of wall-clock time spent on verifying and timing",
        "timed_seconds": "seconds thereof in which the device ran the timed kernels",
        "started_at": "when it was started: UTC, ISO 8601",
        "invocation": "of a confirmation, in which of its new processes it was measured, from 0; 0 of other rows",
    }
)
_FRAME: Mapping[str, str] = MappingProxyType(
    {
        **_COMMON,
        "factor": "coarsening factor, the product over the dimensions; 1 is uncoarsened",
        "factors": "factor of each coarsened dimension, `2,4`; empty where uncoarsened",
        "dimension": "coarsened dimensions, `0,1`",
        "stride": "stride of each coarsened dimension, in work-items",
        "local_size": "local size of the launch before coarsening, in work-items: `16×16`",
        "definitions": "values of macros, `TILE=16`",
        "arrays": "arrays that lie otherwise than in the source, in words",
        "baseline_local_size": "local size of the uncoarsened launch that it is compared with",
        "configuration": "all of it in words",
        "launch": "the launch before coarsening: local size and values of macros",
        "baseline": "the uncoarsened launch that it is compared with; empty where it never ran",
        "work_items": "number of work-items of the local size",
        "median_ns": "median duration of the whole job, in nanoseconds; NaN where it failed",
        "baseline_median_ns": "the same of the baseline, timed in turns with it",
        "speedup": "baseline over configuration, ratio of the medians: times as fast; NaN where it failed",
        "low": "lower end of the 95 % bootstrap interval of `speedup`",
        "high": "upper end of it",
        "tie": "whether the interval holds 1: no significant difference",
        "repetitions": "number of timed runs",
        "cold_cache": "whether the caches were flushed before every timed run",
    }
)
_FILE: Mapping[str, str] = MappingProxyType(
    {
        **_COMMON,
        "ir_hash": "SHA-256 of the uncoarsened kernel's normalised IR",
        "build_options": "OpenCL build options, without macros of the configuration",
        "size": "the problem's extents in elements, by name",
        "device_types": "`CPU`, `GPU`, … as OpenCL has them",
        "versions": "versions of coarsen, LLVM and PyOpenCL (or CUDA)",
        "levels": "what each coarsening merges: `item` or `group`",
        "transforms": "the transforms that the coarsened kernel was made with; null in files of old",
        "any_size": "whether the kernel is guarded, for sizes that do not divide",
        "arrays": "how arrays lie otherwise than in the source: a plan as JSON by the argument's name",
        "baseline_levels": "as `levels`, of the baseline",
        "baseline_transforms": "as `transforms`, of the baseline",
        "baseline_any_size": "as `any_size`, of the baseline",
        "baseline_arrays": "of the baseline: empty",
        "method_repetitions": "timed runs at most",
        "method_minimum_repetitions": "timed runs at least",
        "method_warm_up": "runs before the timed ones",
        "method_interval_width": "relative width of the interval at which timing stops",
        "method_level": "probability of that interval",
        "method_timeout_multiple": "given up beyond so many times the best time so far",
        "method_grace_seconds": "seconds until a process that doesn't end is killed",
        "method_compile_seconds": "seconds that a compilation may take",
        "method_cold_cache": "whether caches were flushed before every run",
        "local_size": f"local size of the launch before coarsening, in work-items: {_SIZES}",
        "coarsenings": "factor, dimension, stride of each coarsening; empty where uncoarsened",
        "definitions": "values of macros, by name",
        "baseline_local_size": "the same of the baseline; null where there is none",
        "baseline_coarsenings": "of the baseline: empty",
        "baseline_definitions": "values of the baseline's macros",
        "nanoseconds": "duration of each timed run of the whole job, in nanoseconds; empty where it failed",
        "baseline_nanoseconds": "duration of the baseline's run just before each of these",
        "code_hash": "SHA-256 of what the device was given",
        "clock": "what the durations are: the `sum` of the launches, or their `span` from first start to last end",
        "sum_nanoseconds": "beside a span, the sum of each run's launches; empty where the device doesn't tell",
        "host_nanoseconds": "beside a span, the time that passed on the host in each run",
        "baseline_sum_nanoseconds": "as `sum_nanoseconds`, of the baseline",
        "baseline_host_nanoseconds": "as `host_nanoseconds`, of the baseline",
    }
)


def frame_columns_in_markdown() -> str:
    """The columns of `Results.frame()`."""
    types = shipped_results("pocl").only(benchmarks=["sgemm"]).frame().dtypes
    return _table((name, str(types[name]).replace("object", "str"), _FRAME[name]) for name in FRAME_COLUMNS)


def file_columns_in_markdown() -> str:
    """The columns of Parquet files."""
    return _table((column.name, _type_name(column), _FILE[column.name]) for column in FILE_COLUMNS)


def _table(rows: Iterable[tuple[str, str, str]]) -> str:
    lines = (f"| `{name}` | {type_} | {meaning} |" for name, type_, meaning in rows)
    return "\n".join(["| column | type | meaning |", "| --- | --- | --- |", *lines])


def _type_name(column: Column) -> str:
    """A type of Arrow in words."""
    if pa.types.is_list(column.type):
        inner = "lists of three" if pa.types.is_list(column.type.value_type) else ""
        return f"list of {inner or _plain(column.type.value_type)}"
    if pa.types.is_map(column.type):
        return f"map of text to {_plain(column.type.item_type)}"
    return _plain(column.type)


def _plain(type_: pa.DataType) -> str:
    return {"string": "text", "int64": "integer", "double": "number", "bool": "true or false"}[str(type_)]
