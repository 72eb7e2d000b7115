"""What every part stands on: files, codecs, names, limits, processes."""
