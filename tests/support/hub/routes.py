"""Who may ask what, and which part of the Hub answers."""

from collections.abc import Container
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from support.hub import cards, reading, writing
from support.hub.answers import Answer, Refusal, Request, json_answer
from support.hub.repository import Blob, Kind, Repository, is_kind

TOKEN = "hf_loopback_"  # noqa: S105 - how those that are accepted begin
GIT_ATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"


@dataclass
class Site:
    """All repositories, and what the Hub wants paid for before it runs it."""

    endpoint: str
    paid_sdks: Container[str] = ()
    repositories: dict[tuple[Kind, str], Repository] = field(default_factory=dict)


def answer(site: Site, request: Request) -> Answer:
    """Answer a request.

    Raises:
        Refusal: With the status and the code that the Hub would give.
    """
    known = _known(request)
    match request.segments:
        case ["api", kind, org, name, *rest] if is_kind(kind):
            repository = _find(site, kind, f"{org}/{name}", known=known)
            return _api(site, repository, request, rest, known=known)
        case [_, _, "resolve", _, *_] | [_, _, _, "resolve", _, *_]:
            at = request.segments.index("resolve")
            *prefix, org, name = request.segments[:at]
            repository = _find(site, _kind(prefix), f"{org}/{name}", known=known)
            return _file(repository, request, request.segments[at + 1 :], known=known)
        case ["lfs", kind, org, name, oid] if is_kind(kind) and request.method == "PUT":
            # The address is the permission, as on the Hub, where it is signed.
            repository = _find(site, kind, f"{org}/{name}", known=True)
            return writing.lfs_upload(repository, oid, request.body)
        case [*prefix, org, name, "info", "lfs", "objects", task] if name.endswith(".git"):
            repository = _find(site, _kind(prefix), f"{org}/{name[:-4]}", known=known)
            _must(known)
            return _lfs(site, repository, request, task)
    return _about_all(site, request, known=known)


def _about_all(site: Site, request: Request, *, known: bool) -> Answer:
    """Answer what is not about one repository that exists."""
    match [request.method, *request.segments]:
        case ["POST", "api", "validate-yaml"]:
            return _validate(request.json["content"])
        case ["POST", "api", "repos", "create"]:
            _must(known)
            return _create(site, request.json)
        case [_, "api", kind, name] if is_kind(kind):
            # Of one segment: the Hub has some of these, this one has none.
            _find(site, kind, name, known=known)
    raise Refusal(HTTPStatus.NOT_FOUND, "NotFound")


def create(
    site: Site, kind: Kind, name: str, *, private: bool = False, sdk: str | None = None
) -> Repository:
    """Create a repository with the commit that the Hub begins one with."""
    repository = Repository(kind, name, private=private, sdk=sdk)
    files = {".gitattributes": Blob(GIT_ATTRIBUTES)}
    if sdk is not None:
        card = f"---\ntitle: {name.split('/')[1]}\nsdk: {sdk}\n---\n"
        files["README.md"] = Blob(card.encode())
    repository.add("refs/heads/main", None, files, "initial commit")
    site.repositories[kind, name] = repository
    return repository


def _known(request: Request) -> bool:
    """Whether the client says who it is."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    if token and not token.startswith(TOKEN):
        message = "Invalid credentials in Authorization header"
        raise Refusal(HTTPStatus.UNAUTHORIZED, "Unauthorized", message)
    return bool(token)


def _must(known: bool) -> None:  # noqa: FBT001 - reads as the sentence it is
    if not known:
        raise Refusal(HTTPStatus.UNAUTHORIZED, "Unauthorized", "Invalid username or password.")


def _find(site: Site, kind: Kind, name: str, *, known: bool) -> Repository:
    """Return a repository; to strangers the Hub does not admit that there is a private one."""
    repository = site.repositories.get((kind, name))
    if repository is None or (repository.private and not known):
        status = HTTPStatus.NOT_FOUND if known else HTTPStatus.UNAUTHORIZED
        raise Refusal(status, "RepoNotFound", "Repository not found")
    return repository


def _api(
    site: Site, repository: Repository, request: Request, rest: list[str], *, known: bool
) -> Answer:
    reads = request.method in ("GET", "HEAD") or rest[:1] == ["paths-info"]
    if not reads:
        _must(known)
    if reads:
        return reading.read(repository, request, rest)
    return writing.write(repository, request, rest, site.endpoint)


def _kind(prefix: list[str]) -> Kind:
    """Return the kind that an address begins with; that of a model begins with its name."""
    match prefix:
        case []:
            return "models"
        case [("datasets" | "spaces") as kind]:
            return kind
    raise Refusal(HTTPStatus.NOT_FOUND, "NotFound")


def _lfs(site: Site, repository: Repository, request: Request, task: str) -> Answer:
    if task == "batch":
        return writing.lfs_batch(repository, request.json, site.endpoint)
    return writing.lfs_verify(repository, request.json)


def _file(repository: Repository, request: Request, rest: list[str], *, known: bool) -> Answer:
    if repository.gated and not known:
        message = f"Access to {repository.url} is restricted. You must be authenticated."
        raise Refusal(HTTPStatus.UNAUTHORIZED, "GatedRepo", message)
    return reading.file(repository, request, rest[0], "/".join(rest[1:]))


def _create(site: Site, asked: dict[str, Any]) -> Answer:
    kind, sdk = f"{asked.get('type') or 'model'}s", asked.get("sdk")
    name = f"{asked.get('organization') or 'tester'}/{asked['name']}"
    if not is_kind(kind):
        raise Refusal(HTTPStatus.BAD_REQUEST, "BadRequest", f"there are no {kind}")
    repository = Repository(kind, name)
    url = f"{site.endpoint}/{repository.url}"
    if (kind, name) in site.repositories:
        message = "You already created this repo"
        raise Refusal(HTTPStatus.CONFLICT, "Conflict", message, details={"url": url})
    if sdk in site.paid_sdks:
        message = f"A subscription is required to host {sdk} Spaces."
        raise Refusal(HTTPStatus.PAYMENT_REQUIRED, "PaymentRequired", message)
    private = asked.get("visibility") == "private" or bool(asked.get("private"))
    create(site, kind, name, private=private, sdk=sdk)
    return json_answer({"url": url, "name": name, "private": private})


def _validate(readme: str) -> Answer:
    problems = [{"message": message} for message in cards.faults(readme)]
    hints = [{"message": message} for message in cards.warnings(readme)]
    status = HTTPStatus.BAD_REQUEST if problems else HTTPStatus.OK
    return json_answer({"errors": problems, "warnings": hints}, status)
