"""`coarsen tune init`: a description of a kernel, for tuning it over inputs."""

from __future__ import annotations

from coarsen.cli.bench_init import Force, Output, write_descriptions
from coarsen.cli.options import BuildOptions, Definitions, IncludeFolders, KernelFile, KernelName, Standard
from coarsen.cli.output import print_line


def init(
    kernel_file: KernelFile,
    kernel: KernelName = None,
    output: Output = None,
    force: Force = False,
    define: Definitions = None,
    include: IncludeFolders = None,
    cl_std: Standard = None,
    build_option: BuildOptions = None,
) -> None:
    """Write the file by which a kernel is tuned over inputs, from the kernel's parameters and pragmas.

    It is what `coarsen bench init` writes, with features of a launch and ranges of sizes; what the kernel leaves
    open is guessed and marked CHECK.

    Example: coarsen tune init mv.cl
    """
    for path in write_descriptions(
        kernel_file, kernel, output, force, define, include, cl_std, build_option, over_inputs=True
    ):
        print_line(f"wrote {path}; complete the lines marked CHECK, then run: coarsen tune {path}")
