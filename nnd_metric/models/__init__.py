"""Language models: loaded from a folder or the Hub, or wrapped as they are."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .adapted import unwrap as unwrap, virtual_tokens as virtual_tokens
    from .base_models import says_base as says_base
    from .digests import (
        config_digest as config_digest,
        tokenizer_digest as tokenizer_digest,
    )
    from .holder import ModelHolder as ModelHolder, choose_model as choose_model
    from .load import (
        evaluation_mode as evaluation_mode,
        forward_replaced as forward_replaced,
        load_config as load_config,
        load_model as load_model,
        load_skeleton as load_skeleton,
        load_tokenizer as load_tokenizer,
        wrap_model as wrap_model,
    )
    from .loaded import (
        LoadedModel as LoadedModel,
        Model as Model,
        Skeleton as Skeleton,
    )
    from .local import check_local as check_local, place_of as place_of
    from .names import (
        list_models as list_models,
        name_models as name_models,
    )
    from .options import Loading as Loading
    from .pinning import pin_version as pin_version
    from .revisions import split_revision as split_revision
    from .series import (
        list_checkpoints as list_checkpoints,
        step_of as step_of,
    )
    from .threads import loading_alone as loading_alone
else:
    __getattr__, __dir__ = lazy_exports(__name__)
