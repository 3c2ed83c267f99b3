"""Log-likelihoods: requests are planned, packed, scored, proved against plain scoring, stored."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .answers import Likelihoods as Likelihoods, Scorer as Scorer, Work as Work
    from .cache import fingerprint as fingerprint
    from .engine import Engine as Engine
    from .execution import run as run
    from .head import most_rows as most_rows
    from .memory import (
        bytes_per_position as bytes_per_position,
        choose_budget as choose_budget,
        full_speed_bytes as full_speed_bytes,
        number_in as number_in,
    )
    from .options import Scoring as Scoring, scoring_of_each as scoring_of_each
    from .packed import open_packed as open_packed
    from .paths import paths_of as paths_of
    from .plan import plan_packed as plan_packed
    from .positions import Positions as Positions
    from .proof import Proof as Proof
    from .store import Store as Store, default_store as default_store
    from .unpacked import open_plain as open_plain
else:
    __getattr__, __dir__ = lazy_exports(__name__)
