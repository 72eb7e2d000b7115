"""Host drivers of the seventeen benchmarks: every `Benchmark` of a module here is one."""
