"""Models with adapters of PEFT: which model of transformers is behind them."""

import sys
from typing import Any

from nnd.schemas import ScoringError


def without_adapter_shell(model: Any) -> Any:  # noqa: ANN401 - models of transformers and of PEFT share no type
    """Return the model that PEFT has put its adapters into; any other model as it is.

    LoRA and its kin change layers inside the model, so that the model itself, without PEFT's shell
    around it, computes with the adapter.

    Raises:
        ScoringError: If the adapter works outside the model (prompt and prefix tuning).
    """
    peft = sys.modules.get("peft")  # not imported: whoever has an adapter has done so
    if peft is None or not isinstance(model, peft.PeftModel):
        return model
    if model.active_peft_config.is_prompt_learning:
        raise ScoringError(
            f"the adapter ({model.active_peft_config.peft_type.value}) puts prompts before the "
            "text instead of changing layers, and such models cannot be scored; use LoRA"
        )
    return model.get_base_model()
