"""What is asked of the Hub and what it answers, apart from how either travels."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class Request:
    """A request as it was received; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def line(self) -> str:
        return f"{self.method} {self.target}"

    @property
    def segments(self) -> list[str]:
        """The segments of the path, unquoted: a quoted slash is part of a segment."""
        return [unquote(part) for part in urlsplit(self.target).path.strip("/").split("/")]

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.target).query)

    def asks_for(self, option: str) -> bool:
        """Whether an option of the query is switched on."""
        return self.query.get(option, [""])[-1].lower() in ("1", "true")

    @property
    def form(self) -> dict[str, list[str]]:
        return parse_qs(self.body.decode())

    @property
    def json(self) -> dict[str, Any]:
        """The body, which the Hub refuses unless it is an object."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, "BadRequest", f"no JSON: {error}") from error
        if not isinstance(value, dict):
            raise Refusal(HTTPStatus.BAD_REQUEST, "BadRequest", "not an object")
        return value


@dataclass(frozen=True)
class Answer:
    """A body, its headers and its status."""

    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = HTTPStatus.OK


class Refusal(Exception):  # noqa: N818 - an answer, not an error
    """An answer other than 200, with the code by which clients tell one from another.

    Args:
        status: Of HTTP.
        code: As the Hub has it: RepoNotFound, RevisionNotFound, EntryNotFound, GatedRepo, …
        message: A sentence for people; the code where there is none.
        headers: Beyond those that carry code and message.
        details: Further members of the JSON body.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(code)
        said = {"X-Error-Code": code, "X-Error-Message": message or code}
        body = {"error": message or code, **(details or {})}
        self.answer = Answer(json.dumps(body).encode(), {**said, **(headers or {})}, status)


def json_answer(value: object, status: int = HTTPStatus.OK) -> Answer:
    return Answer(json.dumps(value).encode(), {"Content-Type": "application/json"}, status)
