"""The signature: one line that names everything a result depends on."""

from collections.abc import Sequence

from nnd.metric.data import PairSet
from nnd.metric.likelihood import Engine, config_digest, tokenizer_digest
from nnd.metric.numbers import PassRates
from nnd.metric.run.version import VERSION
from nnd.metric.text import Template, find_protocol, special_frame


def make_signature(
    version: str,
    data: PairSet,
    engine: Engine,
    template: Template,
    rates: PassRates,
    *,
    languages: Sequence[str] = (),
) -> str:
    """Return the signature of one model's result; `languages` are those that it was given."""
    loaded = engine.loaded
    family = "beginning" if loaded.is_encoder_decoder else "end"
    parts = {
        "v": VERSION,
        "model": loaded.signed(version),
        "tok": tokenizer_digest(loaded.tokenizer)[:6],
        "cfg": config_digest(loaded.model.config)[:6],
        "data": f"{data.name}@{data.version[:6]}",
        **dict(data.part),
        "protocol": engine.protocol,
        "template": template.name,
        **({} if template.instruction is None else {"instr": template.instruction}),
        **({} if engine.chat is None else {"chat": engine.chat.digest}),
        **({"lang": ",".join(languages)} if languages else {}),
        "dtype": loaded.dtype,
        **({} if engine.matmul == "highest" else {"matmul": engine.matmul}),
        **({"quant": loaded.quantised} if loaded.quantised else {}),
        "ties": "fail",
        "keep": engine.keep or family,
        "trunc": rates.overall.truncated,
        "n": rates.overall.n,
    }
    if not loaded.is_encoder_decoder:
        uses_separator = find_protocol(engine.protocol).tokens in {"native", "masked"}
        if uses_separator and not template.as_pair:
            parts["sep"] = repr(engine.separator)
        parts["bos"] = "yes" if _reads_bos(engine) else "no"
    line = "|".join(["nnd", *(f"{name}:{value}" for name, value in parts.items())])
    # A user's template may contain line breaks, but the signature is one line.
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)


def _reads_bos(engine: Engine) -> bool:
    """Whether a special token comes before a context."""
    if engine.chat is not None:
        return engine.chat.writes_bos
    return bool(special_frame(engine.loaded.tokenizer).lead)
