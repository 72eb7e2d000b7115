"""What integers and addresses are, as polynomials: one table of rules (`rules.py`), three semantics.

    bit-exact    a form equals its value modulo 2^n, always
    prove        likewise, or it is wrong by whole multiples of a number that it says (`prove/proof.py`)
    predict      a form equals its value as whole numbers where nothing wraps; else it may be anything

`index_forms.py` predicts, `exact_forms.py` proves; value numbering (`transform/value_numbering`) is bit-exact.
"""
