"""Log-likelihoods: models are loaded, and requests are planned, scored, proved and stored."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .engine.answers import (
        NO_WORK as NO_WORK,
        Likelihoods as Likelihoods,
        Scorer as Scorer,
        Work as Work,
    )
    from .engine.batch_plan import (
        Planner as Planner,
        plan_begun as plan_begun,
        plan_packed as plan_packed,
    )
    from .engine.engine import (
        Engine as Engine,
    )
    from .engine.faster_precision import (
        faster_precision as faster_precision,
    )
    from .engine.float64_numbers import (
        has_float64 as has_float64,
        in_float64 as in_float64,
    )
    from .engine.head import (
        most_rows as most_rows,
    )
    from .engine.memory import (
        bytes_per_position as bytes_per_position,
        choose_budget as choose_budget,
        device_bytes as device_bytes,
        full_speed_bytes as full_speed_bytes,
        number_in as number_in,
    )
    from .engine.paths import (
        Path as Path,
        paths_of as paths_of,
    )
    from .engine.proof import (
        Evidence as Evidence,
    )
    from .engine.scoring import (
        Scoring as Scoring,
        scoring_of_each as scoring_of_each,
    )
    from .engine.store import (
        Store as Store,
        default_store as default_store,
    )
    from .engine.token_likelihoods import (
        TokenLikelihoods as TokenLikelihoods,
        token_likelihoods as token_likelihoods,
    )
    from .engine.token_reading import (
        TokenReading as TokenReading,
    )
    from .models.adapted_model import (
        unwrap as unwrap,
        virtual_tokens as virtual_tokens,
    )
    from .models.adapters import (
        Adapter as Adapter,
    )
    from .models.checkpoint_series import (
        list_checkpoints as list_checkpoints,
        step_of as step_of,
    )
    from .models.library_code import (
        changed_libraries as changed_libraries,
    )
    from .models.library_warnings import (
        listening as listening,
    )
    from .models.load_model import (
        evaluation_mode as evaluation_mode,
        load_classifier as load_classifier,
        load_config as load_config,
        load_model as load_model,
        load_skeleton as load_skeleton,
        load_tokenizer as load_tokenizer,
        wrap_model as wrap_model,
    )
    from .models.loaded_model import (
        LoadedModel as LoadedModel,
        Skeleton as Skeleton,
    )
    from .models.loading import (
        Loading as Loading,
    )
    from .models.loading_alone import (
        loading_alone as loading_alone,
    )
    from .models.model_digests import (
        config_digest as config_digest,
        tokenizer_digest as tokenizer_digest,
    )
    from .models.model_files import (
        file_state as file_state,
        places_read as places_read,
    )
    from .models.model_holder import (
        ModelHolder as ModelHolder,
        choose_model as choose_model,
    )
    from .models.model_names import (
        Model as Model,
        list_models as list_models,
        name_models as name_models,
    )
    from .models.model_places import (
        ADAPTER_CONFIG as ADAPTER_CONFIG,
        check_local as check_local,
        place_of as place_of,
        resolve_revision as resolve_revision,
        split_gguf as split_gguf,
        split_revision as split_revision,
    )
    from .models.pinned_weights import (
        pin_version as pin_version,
    )
    from .models.replacement import (
        replaced as replaced,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
