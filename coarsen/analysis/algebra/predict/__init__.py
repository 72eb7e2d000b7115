"""Forms that predict: arithmetic is taken as exact, so nothing that decides what is legal may ask here."""
