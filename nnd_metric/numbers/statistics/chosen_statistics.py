"""The statistics that a person asks for by name."""

from collections.abc import Mapping, Sequence

from nnd.schemas import ScoringError, did_you_mean


def choose_statistics(
    names: str, groups: Mapping[str, Sequence[str]], known: Sequence[str]
) -> tuple[str, ...]:
    """Return the statistics for some names, separated by commas, each once.

    Args:
        names: Names of statistics or of groups.
        groups: Name of a group → its statistics.
        known: The statistics.

    Raises:
        ScoringError: If a name is unknown.
    """
    chosen: list[str] = []
    for name in map(str.strip, names.split(",")):
        if name not in groups and name not in known:
            raise ScoringError(
                "option.unknown-value",
                f'unknown statistic "{name}"{did_you_mean(name, [*groups, *known])}',
                remedy=f"choose from {', '.join(dict.fromkeys([*groups, *known]))}",
            )
        chosen += groups.get(name, [name])
    return tuple(dict.fromkeys(chosen))
