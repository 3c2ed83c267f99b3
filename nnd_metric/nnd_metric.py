"""The metric as `evaluate` loads it, from a clone or from its cache (`nnd install-metric`).

It only imports the installed package. A copy of all modules would keep giving the numbers of an old
version after an upgrade; its classes would differ from the installed ones, so that `except
ScoringError` would not catch its errors.

The imports are indented because `evaluate` looks for unindented imports and would ask the user to
install the package `nnd`, which belongs to another project.
"""

try:
    import near_negative
except ModuleNotFoundError as error:
    raise ImportError(
        "the metric needs the package near-negative, which is not installed here: "
        "pip install near-negative (from a clone: pip install .)"
    ) from error
else:
    near_negative.check_nnd()
    from nnd.metric.space import NND

__all__ = ["NND"]
