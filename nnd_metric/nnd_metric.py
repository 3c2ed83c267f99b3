"""The metric as `evaluate` loads it, from a clone or from its cache (`nnd install-metric`).

It is thin: it imports the installed package. A copy of all modules would keep giving the numbers of
an old version after an upgrade; and its classes would not be the installed ones, so that
`except ScoringError` would miss what it raises.

The imports are indented because `evaluate` checks those at the left margin by itself, and would ask
for the package `nnd`, which is another project's.
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
