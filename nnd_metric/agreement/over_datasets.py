"""Agreement on several datasets, and the mean over them, in which each dataset counts once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.metric.agreement.outcome import Agreement
from nnd.metric.statistics import EACH_ONCE, mean_over
from nnd.schemas import Shown

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True, repr=False)
class Agreements(Shown):
    """Agreement on several datasets.

    Attributes:
        datasets: Name → agreement on it; there are at least two.
    """

    datasets: Mapping[str, Agreement]

    def mean(self) -> dict[str, float | None]:
        """Return statistic → mean over the datasets of the correlation over all tests.

        None where a dataset has none, as with fewer than `FEWEST_SYSTEMS` systems.
        """
        return mean_over([found.over_all_tests() for found in self.datasets.values()])

    def headline(self) -> str:
        """Return the mean correlation over all tests, or on which datasets there is none."""
        n, mean = len(self.datasets), self.mean()
        if mean["tau_b"] is None or mean["pearson"] is None:
            without = [
                name
                for name, found in self.datasets.items()
                if found.over_all_tests()["pearson"] is None
            ]
            return f"{n} datasets, and no mean over them: no correlation on {', '.join(without)}."
        return (
            f"Mean over {n} datasets, {EACH_ONCE}: pass rates and human scores correlate with "
            f"tau-b {mean['tau_b']:.3f} and Pearson r {mean['pearson']:.3f} (overall)."
        )

    def table(self) -> "Table":
        """Return the two main correlations: a row per dataset, the mean at the foot."""
        from nnd.metric.tables import datasets_table  # noqa: PLC0415 - rich is for people only

        found = {name: each.to_dict() for name, each in self.datasets.items()}
        return datasets_table(found, self.mean())

    def remarks(self) -> list[str]:
        """Return what there is to say of each dataset."""
        return [
            f"{name}: {line}"
            for name, found in self.datasets.items()
            for line in (found.headline(), *found.remarks())
        ]

    def details(self) -> "list[Table | str]":
        """Return the agreement on each dataset in full."""
        shown: list[Table | str] = []
        for name, found in self.datasets.items():
            shown += [f"on {name}", *found.details()]
        return shown

    def to_frame(self) -> pl.DataFrame:
        """Return a row per dataset, category and statistic (`Agreement.to_frame`)."""
        return pl.concat(
            found.to_frame().select(pl.lit(name).alias("dataset"), pl.all())
            for name, found in self.datasets.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: an agreement for each dataset, and the mean."""
        found = {name: each.to_dict() for name, each in self.datasets.items()}
        return {"datasets": found, "mean": self.mean()}
