"""The provenance of the numbers of a report."""

from collections.abc import Mapping

from nnd.metric.show.reports.content.report_models import Evaluated


def provenance(model: Evaluated) -> Mapping[str, str]:
    """Return the provenance of a model's numbers."""
    engine = model.facts.get("engine")
    engine = engine if isinstance(engine, Mapping) else {}
    deviation = engine.get("deviation")
    facts = {
        "model": model.model,
        "version": model.facts.get("version"),
        "protocol": model.facts.get("protocol"),
        "template": model.facts.get("template"),
        "precision": model.facts.get("dtype"),
        "device": model.facts.get("device"),
        "engine": engine.get("path"),
        "deviation": f"{deviation:.1e} nats" if isinstance(deviation, float) else None,
        "close": model.facts.get("n_close"),
    }
    return {key: str(value) for key, value in facts.items() if value is not None}
