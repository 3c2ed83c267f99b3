"""Near-Negative Distinction: give human evaluations of generated text a second life."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from nnd.cards import card as card
    from nnd.converters.folder import convert as convert, validate as validate
    from nnd.converters.hub import publish as publish
    from nnd.converters.make import derive as derive, operations as operations
    from nnd.converters.onboard import (
        check_source as check_source,
        new_source as new_source,
    )
    from nnd.converters.source import sources as sources
    from nnd.metric.app import (
        check as check,
        describe as describe,
        estimate_runs as estimate_runs,
        evaluate_runs as evaluate_runs,
        export as export,
        judged_models as judged_models,
        selftest as selftest,
        show as show,
        slice as slice,  # noqa: A004 - as the command
        suite as suite,
    )
    from nnd.metric.data import load_pairs as load_pairs
    from nnd.metric.likelihood import (
        Loading as Loading,
        Scoring as Scoring,
        wrap_model as wrap_model,
    )
    from nnd.metric.numbers import agree as agree, compare as compare
    from nnd.metric.other_metrics import metrics as metrics
    from nnd.metric.run import (
        Ray as Ray,
        estimate as estimate,
        evaluate as evaluate,
        import_samples as import_samples,
        merge as merge,
        vary as vary,
    )
    from nnd.metric.show import report as report
    from nnd.metric.space import install_metric as install_metric, publish_metric as publish_metric
    from nnd.metric.text import Chat as Chat
    from nnd.metric.train import (
        Lora as Lora,
        NNDCallback as NNDCallback,
        Objective as Objective,
        Schedule as Schedule,
        curve as curve,
        train as train,
    )
    from nnd.schemas import (
        DISTRIBUTION as DISTRIBUTION,
        LicenceError as LicenceError,
        NNDError as NNDError,
        PublishError as PublishError,
        SchemaError as SchemaError,
        ScoringError as ScoringError,
        SourceError as SourceError,
        __version__ as __version__,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
