"""Types and contents that several drivers of kernels on records take."""
