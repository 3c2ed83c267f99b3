"""Parts of a run: planned once, scored by independent workers, and merged."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .merging import merge as merge
    from .on_ray import evaluate_on_ray as evaluate_on_ray
    from .plan import Plan as Plan, read_plan as read_plan
    from .ray_cluster import Ray as Ray
    from .report import WorkerReport as WorkerReport
    from .share import (
        Worker as Worker,
        ignored_workers as ignored_workers,
        read_worker as read_worker,
    )
    from .work import evaluate_parts as evaluate_parts
else:
    __getattr__, __dir__ = lazy_exports(__name__)
