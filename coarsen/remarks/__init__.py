"""What coarsening does to a kernel, told to a person: the report, the explanation, places in the source."""
