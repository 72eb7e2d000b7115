"""The published predictor: a cascade of small networks (Magni, Dubach, O'Boyle, PACT 2014, section 6)."""
