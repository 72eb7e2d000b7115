"""Results as data frames and files: T4, Parquet, CSV."""
