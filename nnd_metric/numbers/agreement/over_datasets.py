"""Agreement on several datasets, and the mean over them, with equal weights."""

from dataclasses import dataclass

from nnd.metric.numbers.agreement.agreement import Agreement
from nnd.metric.numbers.rates.by_dataset import EACH_ONCE, OverDatasets, mean_over
from nnd.metric.numbers.statistics.correlations import STATISTICS


@dataclass(frozen=True, slots=True, repr=False)
class Agreements(OverDatasets[Agreement]):
    """Agreement on several datasets.

    Attributes:
        mixture: A sentence on the different protocols of the models, over which there is no mean;
            None if they have one.
    """

    mixture: str | None = None

    def mean(self) -> dict[str, float | None]:
        """Return statistic → mean over the datasets of its value over all tests.

        It is None across protocols, and if it is undefined for a dataset, as with fewer than
        `FEWEST_SYSTEMS` systems.
        """
        if self.mixture is not None:
            return dict.fromkeys(STATISTICS)
        return mean_over([agreement.over_all_tests() for agreement in self.datasets.values()])

    def headline(self) -> str:
        """Return the mean correlation over all tests, or the datasets without a correlation."""
        if self.mixture is not None:
            return self.mixture
        n, mean = len(self.datasets), self.mean()
        if mean["tau_b"] is None or mean["pearson"] is None:
            without = [
                name
                for name, agreement in self.datasets.items()
                if agreement.over_all_tests()["pearson"] is None
            ]
            return (
                f"The mean over the {n} datasets is undefined: the correlation is undefined on "
                f"{', '.join(without)}."
            )
        return (
            f"Mean over {n} datasets, {EACH_ONCE}: pass rates and human scores correlate with "
            f"tau-b {mean['tau_b']:.3f} and Pearson r {mean['pearson']:.3f} (overall)."
        )
