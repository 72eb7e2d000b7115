"""Results as data frames and files: Parquet, lines of JSON, CSV."""
