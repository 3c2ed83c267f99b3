"""Near-Negative Distinction: give human evaluations of generated text a second life."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from nnd.cards import card as card
    from nnd.converters.check_source import check_source as check_source
    from nnd.converters.derive import derive as derive
    from nnd.converters.derive.operations import operations as operations
    from nnd.converters.folder import convert as convert, validate as validate
    from nnd.converters.new_source import Answers as Answers, new_source as new_source
    from nnd.converters.publish import publish as publish
    from nnd.converters.source import sources as sources
    from nnd.metric import estimate as estimate, evaluate as evaluate
    from nnd.metric.agreement import agree as agree
    from nnd.metric.chat import Chat as Chat
    from nnd.metric.cli import (
        describe as describe,
        evaluate_runs as evaluate_runs,
        export as export,
        show as show,
        slice as slice,  # noqa: A004 - as the command
        suite as suite,
    )
    from nnd.metric.comparison import compare as compare
    from nnd.metric.data import load_pairs as load_pairs
    from nnd.metric.engine import Scoring as Scoring
    from nnd.metric.meta import metrics as metrics
    from nnd.metric.models import Loading as Loading, wrap_model as wrap_model
    from nnd.metric.parts import (
        Ray as Ray,
        evaluate_on_ray as evaluate_on_ray,
        evaluate_parts as evaluate_parts,
        merge as merge,
    )
    from nnd.metric.report import report as report
    from nnd.metric.space import install_metric as install_metric, publish_metric as publish_metric
    from nnd.metric.training import (
        NNDCallback as NNDCallback,
        Objective as Objective,
        Schedule as Schedule,
        curve as curve,
        train as train,
    )
    from nnd.metric.variation import vary as vary
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
