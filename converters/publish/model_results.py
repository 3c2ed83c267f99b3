"""Results of `nnd evaluate` back to the models they are about, as pull requests on the Hub."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nnd.cards import ScoredOn, add_results, results_file
from nnd.converters.hub import (
    Patience,
    Pushed,
    Repository,
    State,
    ask,
    check_name,
    check_token,
    fetch,
    look,
    push,
)
from nnd.schemas import PublishError, temporary_folder

README = "README.md"


def check_pushable(models: Sequence[str], revision: str | None = None) -> None:
    """Check, before long work, that results can be sent to models: names and token only.

    Args:
        models: As the user names them.
        revision: Of all of them, as the user names it.

    Raises:
        PublishError: If one is a folder or no ORG/name, another revision than main is scored, there
            is no token, or the Hub may not be asked.
    """
    if revision not in (None, "main"):
        raise PublishError(
            f"{revision}: the card that people see is main's, and results of another revision "
            "would be taken for main's; leave --push-to-model-card out, or the revision"
        )
    for model in models:
        if Path(model).is_dir():
            raise PublishError(
                f"{model}: is a folder here, and its results can only go to a model on the Hub; "
                "leave --push-to-model-card out, or name ORG/name"
            )
        check_name(Repository("model", model))
        check_token(Repository("model", model))


def push_results(
    model: str,
    results: Mapping[ScoredOn, Mapping[str, Any]],
    *,
    patience: Patience | None = None,
) -> Pushed:
    """Open a pull request that puts results into the metadata of their model.

    It is one for all of them: several that change the same README could not all be merged. The
    README gets them in `model-index`, each in the place of an earlier one on the same data under
    the same protocol and template, and stays as it is else; one is made where there is none.
    Results on a dataset of the Hub go to `.eval_results` too. If main holds all of it already,
    nothing is sent; if an open pull request of ours does, that one is taken.

    Args:
        model: ORG/name on the Hub.
        results: Dataset → what the model did there (`result.schema.json`, a model result).
        patience: How long to try again where the Hub does not answer.

    Returns:
        `sent` tells whether a pull request was opened for them.

    Raises:
        PublishError: If there is no such model on the Hub, its metadata are not what the Hub
            accepts, they change meanwhile, or the Hub does not take it.
    """
    check_pushable([model])
    repository = Repository("model", model)
    commit, readme = ask(repository, lambda: _readme(repository), patience=patience)
    texts = {}
    for dataset, result in results.items():
        readme = texts[README] = add_results(readme, model, result, dataset)
        if dataset.commit is not None:
            path, text = results_file(result, dataset)
            texts[path] = text

    def unchanged(state: State) -> Iterator[str]:
        if state.commit != commit:
            raise PublishError(
                f"{model}: it is being changed by someone else; run the same command again"
            )
        yield from ()

    with temporary_folder("nnd-results") as place:
        return push(
            repository,
            _written(texts, place),
            message=f"Add NND pass rates on {', '.join(dataset.name for dataset in results)}",
            obsolete=unchanged,
            pull_request=True,
            patience=patience,
        )


def _readme(repository: Repository) -> tuple[str, str | None]:
    """Return the commit that main is at, and the README there."""
    state = look(repository)
    if state is None:
        raise PublishError(
            f"{repository.name}: the Hub has no such model that the token can see; check the name"
        )
    if README not in state.files:
        return state.commit, None
    try:
        return state.commit, fetch(repository, state.commit, README).decode()
    except UnicodeDecodeError as error:
        raise PublishError(
            f"{repository.name}: {README} is not UTF-8 (byte {error.start}), so nothing can be "
            "put into it; save it as UTF-8 first"
        ) from error


def _written(texts: Mapping[str, str], folder: Path) -> dict[str, Path]:
    files = {}
    for path, text in texts.items():
        files[path] = folder / path
        files[path].parent.mkdir(exist_ok=True)
        files[path].write_bytes(text.encode())
    return files
