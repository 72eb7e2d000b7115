"""What decides how launches run: policies, each a value of `coarsen.runtime.advice.Policy`.

requested: `Program(factor=…)`     remembered: `remembered.py`     search now: `search.py`
predicted: `predicted.py`          remembered tree and tuned file: `tree.py`, `coarsen/runtime/tuned_launches.py`
"""
