"""Pull requests that add results of `nnd evaluate` to the models on the Hub."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nnd.cards import ScoredOn, add_results, results_file
from nnd.converters.hub.earlier_files import card_there
from nnd.converters.hub.hub_calls import ask
from nnd.converters.hub.release_folder import CARD
from nnd.converters.hub.repository_state import (
    Repository,
    State,
    check_access,
    look,
)
from nnd.converters.hub.upload import Upload, push
from nnd.schemas import PublishError, temporary_folder


def check_pushable(models: Sequence[str], revision: str | None = None) -> None:
    """Check names and token before long work, so that results can be sent to models.

    Models are ORG/name on the Hub, scored at main, and there is a token and a network.
    """
    if revision not in (None, "main"):
        raise PublishError(
            "hub.model-card",
            "the card that people see is main's, and results of another revision would be "
            "taken for main's",
            revision,
            "leave --push-to-model-card out, or the revision",
        )
    for model in models:
        if Path(model).is_dir():
            raise PublishError(
                "hub.model-card",
                "is a folder here, and its results can only go to a model on the Hub",
                model,
                "leave --push-to-model-card out, or name ORG/name",
            )
        check_access(Repository("model", model))


def push_results(
    model: str,
    results: Mapping[ScoredOn, Mapping[str, Any]],
) -> Upload:
    """Open a pull request that adds results to the metadata of their model.

    All results are in one pull request, because several that change the same README could not all
    be merged. They are added to `model-index` of the README, each replacing an earlier one on the
    same data under the same protocol and template; a missing README is created. Results on a
    dataset of the Hub go to `.eval_results` too. If main holds all of it already, nothing is sent;
    if our open pull request does, it is used. `Upload.sent` is whether a pull request was opened.

    Raises PublishError if the model is not on the Hub, its metadata is not what the Hub accepts or
    changes meanwhile, or the Hub refuses the request.
    """
    check_pushable([model])
    repository = Repository("model", model)
    commit, readme = ask(repository, lambda: _readme(repository))
    texts = {}
    for dataset, result in results.items():
        readme = texts[CARD] = add_results(readme, model, result, dataset)
        if dataset.commit is not None:
            path, text = results_file(result, dataset)
            texts[path] = text

    def unchanged(state: State) -> Iterator[str]:
        if state.commit != commit:
            raise PublishError("hub.run-again", "it is being changed by someone else", model)
        yield from ()

    with temporary_folder("nnd-results") as place:
        files = {path: place / path for path in texts}
        for path, file in files.items():
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(texts[path].encode())
        return push(
            repository,
            files,
            message=f"Add NND pass rates on {', '.join(dataset.name for dataset in results)}",
            obsolete=unchanged,
            pull_request=True,
        )


def _readme(repository: Repository) -> tuple[str, str | None]:
    """Return the commit of main, and its README."""
    state = look(repository)
    if state is None:
        raise PublishError("hub.not-found", "not found on the Hub with this token", repository.name)
    return state.commit, card_there(repository, state)
