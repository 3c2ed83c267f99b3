"""A checkpoint: a folder, a repository of the Hub, or one GGUF file in either; its tokenizer."""

from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from huggingface_hub import is_offline_mode
from transformers import (
    CONFIG_MAPPING,
    AutoConfig,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedTokenizerBase,
    TokenizersBackend,
    __version__ as transformers_version,
)

from nnd.metric.likelihood.models.adapters import Adapter
from nnd.metric.likelihood.models.checkpoint_files import (
    find_commit,
    find_file,
    is_gated,
    is_out_of_reach,
    needs_custom_code,
    reason_of,
)
from nnd.metric.likelihood.models.fitness import (
    ADD_TOKENS,
    SAVE_TOKENIZER,
    check_vocabulary,
    custom_code,
)
from nnd.metric.likelihood.models.folder_tokenizer import (
    FolderTokenizer,
    contradiction,
    is_rebuilt,
    restored,
)
from nnd.metric.likelihood.models.gguf.config import read_config
from nnd.metric.likelihood.models.gguf.conversion import converted_whole
from nnd.metric.likelihood.models.gguf.foreign import complete_config
from nnd.metric.likelihood.models.gguf.gguf_file import GGUFFile, open_gguf
from nnd.metric.likelihood.models.gguf.tokenizer import check_tokenizer, complete_tokenizer
from nnd.metric.likelihood.models.loading import Loading
from nnd.metric.likelihood.models.model_files import check_named_files, joint_digest, weight_files
from nnd.metric.likelihood.models.model_places import check_local, split_gguf
from nnd.metric.likelihood.models.other_formats import check_repository
from nnd.schemas import NNDError, ScoringError, read_json

_SUBFOLDER, _CONFIG, _TOKENS = "tokenizer", "tokenizer_config.json", "tokenizer.json"


@dataclass(frozen=True)
class Checkpoint:
    """Where a model is read from: a Hub id or folder.

    `options` are those of `from_pretrained` for weights, tokenizer and configuration.
    """

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    gguf: GGUFFile | None = None

    def read(self, kind: Any, code: str, problem: str, remedy: str = "", **options: Any) -> Any:  # noqa: ANN401 - transformers' Auto classes share no type
        """Return the object that an Auto class of transformers loads from it.

        If it cannot be loaded, a ScoringError has the code, says `problem` and the reason, and
        has the remedy of the code unless another is given.
        """
        try:
            with converted_whole(self.gguf) if self.gguf else nullcontext():
                return kind.from_pretrained(self.name, **(self.options | options))
        except ScoringError:
            raise
        except Exception as error:  # damaged files may raise anything
            name = "/".join(filter(None, (self.name, self.options.get("gguf_file"))))
            if is_gated(error):
                raise ScoringError(
                    "model.needs-a-token", "needs a token, because it is gated", name
                ) from error
            if not is_out_of_reach(error):
                if needs_custom_code(error):
                    raise custom_code(name) from error
                self._check_formats()
                reason = f"{problem}: {reason_of(error)}"
                raise ScoringError(code, reason, name, remedy) from error
            why = "HF_HUB_OFFLINE is set" if is_offline_mode() else "no connection"
            raise ScoringError(
                "model.out-of-reach",
                f"not found in the local Hub cache, and the Hub cannot be reached ({why})",
                name,
            ) from error

    def config(self) -> PretrainedConfig:
        """Return the model's configuration."""
        known = read_config(self.gguf) if self.gguf else None
        if known is not None:
            return known
        try:
            config: PretrainedConfig = self.read(AutoConfig, "model.unknown", "no such model")
        except ScoringError as error:
            if error.code == "model.unknown" and self.gguf is None:
                self._check_type()
            raise
        if self.gguf is not None:
            complete_config(self.gguf, config)
        return config

    def _check_type(self) -> None:
        """Raise ScoringError if this version of transformers does not know the type of model."""
        path = find_file(self.name, "config.json", self.options["revision"])
        kind = None
        with suppress(OSError, NNDError, AttributeError):
            kind = path and read_json(path).get("model_type")
        if isinstance(kind, str) and kind not in CONFIG_MAPPING:
            raise ScoringError(
                "model.new-type",
                f'transformers {transformers_version} does not know the type of model "{kind}"',
                self.name,
            )

    def _check_formats(self) -> None:
        """Raise ScoringError if all weights are in formats that are not read."""
        if self.gguf is None:
            check_repository(self.name, self.options["revision"])

    def pinned(self) -> "Checkpoint":
        """Return the checkpoint at the commit that its configuration was just read from."""
        revision = self.options["revision"]
        file = self.options.get("gguf_file", "config.json")
        commit = find_commit(self.name, revision, file)
        return replace(self, options=self.options | {"revision": commit or revision})

    @property
    def commit(self) -> str | None:
        """The Hub commit; None for a folder, and for a GGUF file, as a commit may hold many."""
        return None if self.gguf else find_commit(self.name, self.options["revision"])

    def has_only_tekken(self) -> bool:
        """Whether a folder's tokenizer is in Mistral's own form, and in no other."""
        folder = Path(self.name)
        others = (_TOKENS, "tokenizer.model")
        return (folder / "tekken.json").is_file() and not any(
            (folder / name).is_file() for name in others
        )

    @property
    def format(self) -> str | None:
        """The format of the weights of a GGUF file."""
        return self.gguf.format if self.gguf else None

    def digest(self) -> str | None:
        """Return a digest of the content of the files with the weights, whatever their names.

        It is None for a repository with a commit, and if a file cannot be read; `read` then says
        why.
        """
        files = self._files()
        with suppress(OSError):
            return joint_digest(files) if files else None
        return None

    def _files(self) -> list[Path]:
        """Return the files with the weights; none for a repository with a commit."""
        if self.gguf is not None:
            return [*self.gguf.parts]
        if self.commit is not None:
            return []
        return weight_files(Path(self.name))


def find_checkpoint(model_id: str, loading: Loading) -> Checkpoint:
    """Return the checkpoint that a model id without a revision stands for."""
    name, file = split_gguf(model_id)
    options = {"revision": loading.revision, "trust_remote_code": loading.trust_remote_code}
    if file is None:
        check_local(name)
        if Path(name).is_dir():
            check_named_files(Path(name))
        return Checkpoint(name, options)
    gguf = open_gguf(name, file, loading.revision)
    return Checkpoint(name, options | {"gguf_file": file}, gguf)


def read_tokenizer(checkpoint: Checkpoint, adapter: Adapter | None) -> FolderTokenizer:
    """Return the adapter's own tokenizer, else that of the base.

    If there is none beside the weights, it may be in a subfolder called tokenizer.
    """
    if adapter is not None and find_file(adapter.name, _CONFIG, adapter.commit):
        checkpoint = Checkpoint(adapter.name, checkpoint.options | {"revision": adapter.commit})
    try:
        return _read(checkpoint)
    except ScoringError:
        file = f"{_SUBFOLDER}/{_CONFIG}"
        if find_file(checkpoint.name, file, checkpoint.options["revision"]) is None:
            raise
    # With the model's configuration, transformers asks for none in the subfolder.
    return _read(checkpoint, subfolder=_SUBFOLDER, config=checkpoint.config())


def _read(checkpoint: Checkpoint, **options: Any) -> FolderTokenizer:  # noqa: ANN401 - of `read`
    def read(kind: Any) -> PreTrainedTokenizerBase:  # noqa: ANN401 - as above
        problem, remedy = "the model has no usable tokenizer", SAVE_TOKENIZER
        if checkpoint.has_only_tekken():
            problem, remedy = "its tokenizer, Mistral's tekken.json, cannot be read", ADD_TOKENS
        found: PreTrainedTokenizerBase = checkpoint.read(
            kind, "model.tokenizer", problem, remedy, **options
        )
        return found

    if checkpoint.gguf is not None:
        check_tokenizer(checkpoint.gguf)
    tokenizer = read(AutoTokenizer)
    check_vocabulary(tokenizer, checkpoint.name)
    if checkpoint.gguf is not None:
        complete_tokenizer(tokenizer, checkpoint.gguf)
    if checkpoint.gguf is not None or not tokenizer.is_fast:
        return FolderTokenizer(tokenizer)
    file, config = (
        find_file(
            checkpoint.name,
            "/".join(filter(None, (options.get("subfolder"), name))),
            checkpoint.options["revision"],
        )
        for name in (_TOKENS, _CONFIG)
    )
    if file is None:
        return FolderTokenizer(tokenizer)
    found = FolderTokenizer(tokenizer)
    if is_rebuilt(tokenizer):
        found = restored(tokenizer, read(TokenizersBackend))
    note = contradiction(tokenizer, config) if config else None
    return found._replace(notes=(*found.notes, *([note] if note else [])))
