"""What coarsening does to a kernel, for a person to read: the report, the explanation, places in the source."""
