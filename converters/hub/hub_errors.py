"""Errors of the Hub: whether to try again, and a message without secrets."""

import os
import re
from http import HTTPStatus

from huggingface_hub import constants, get_token
from huggingface_hub.errors import (
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RevisionNotFoundError,
)

from nnd.schemas import PublishError

_PASSING = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.CONFLICT,  # another commit is under way
    HTTPStatus.PRECONDITION_FAILED,  # another commit came first
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
}
_LOST = {"TimeoutException", "NetworkError", "RemoteProtocolError"}
"""Names of errors of the HTTP library, because the Hub's client may change the library."""

OFFLINE = "HF_HUB_OFFLINE is set, so nothing can be read or published"
"""What is wrong when the Hub's client is told to stay offline."""

_REFUSALS = {
    HTTPStatus.UNAUTHORIZED: (
        "the Hub does not accept the token",
        "hub.no-token",
        "run `hf auth login` with one that may write, or set HF_TOKEN to one",
    ),
    HTTPStatus.PAYMENT_REQUIRED: (
        "the Hub requires a paid plan for this",
        "hub.refused",
        "use an account or organisation that has one",
    ),
    HTTPStatus.FORBIDDEN: (
        "the token may not write there",
        "hub.no-token",
        "use one with the role `write` from a member of that organisation",
    ),
    HTTPStatus.NOT_FOUND: (
        "the Hub does not find it",
        "hub.not-found",
        "check the name and the access of the token",
    ),
}

_SECRETS = (
    (re.compile(r"\bhf_\w{16,}"), "hf_…"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[^\s'\",;]+"), r"\1 …"),
    (re.compile(r"(?<=://)[^/@\s]+@"), "…@"),  # a password in the address of a proxy
    (
        re.compile(r"(https?://[^\s?'\"]+)\?[^\s'\"]+"),
        r"\1",
    ),  # signatures of addresses to upload to
)


def wanted_pause(error: Exception) -> float | None:
    """Return the seconds to wait before another try; None if another try would fail too.

    They are those that the Hub asks for, 0 if it states none.
    """
    cause = _cause(error)
    if isinstance(cause, RevisionNotFoundError):
        return 0.0  # a new commit that is not visible everywhere yet
    if isinstance(cause, HfHubHTTPError):
        status = cause.response.status_code
        if status not in _PASSING and status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return None
        asked = cause.response.headers.get("Retry-After", "")
        return float(asked) if asked.isdecimal() else 0.0
    return 0.0 if _names(cause) & _LOST else None


def is_unreachable(error: Exception) -> bool:
    """Say whether no connection was established."""
    return bool(_names(_cause(error)) & {"ConnectError", "ConnectTimeout", "ProxyError"})


class UnreachableError(PublishError):
    """The Hub did not answer, or HF_HUB_OFFLINE is set."""


def explain(error: Exception, where: str) -> PublishError:
    """Return an error with a one-line message and the remedy.

    Raise it `from None`, because errors of the client may quote a token.
    """
    cause = _cause(error)
    reason = " ".join(str(cause).split()) or type(cause).__name__
    family, code, remedy = PublishError, "hub.refused", ""
    if isinstance(cause, OfflineModeIsEnabled):
        family, code = UnreachableError, "hub.offline"
        what = OFFLINE
    elif isinstance(cause, HfHubHTTPError):
        what, code, remedy = _explain_status(cause)
    elif is_unreachable(error):
        family, code = UnreachableError, "hub.unreachable"
        what = f"the Hub cannot be reached at {constants.ENDPOINT} ({reason})"
    elif _names(cause) & _LOST:
        family, code = UnreachableError, "hub.run-again"
        what = f"the connection to the Hub broke off ({reason})"
    elif isinstance(cause, UnicodeError) or "LocalProtocolError" in _names(cause):
        what, code = "the token contains characters that tokens cannot have", "hub.no-token"
    else:
        what = f"the Hub rejected the request: {reason}"
    return family(code, scrub(what), scrub(where), remedy)


def scrub(text: str) -> str:
    """Return a text without tokens, passwords and signed addresses, known or likely."""
    known = (get_token(), os.environ.get("HF_TOKEN"), os.environ.get("HUGGING_FACE_HUB_TOKEN"))
    for secret in known:
        if secret and secret.strip():
            text = text.replace(secret, "…").replace(secret.strip(), "…")
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def _explain_status(error: HfHubHTTPError) -> tuple[str, str, str]:
    """Return what is wrong, the code and the remedy, empty for that of the code."""
    status = error.response.status_code
    told = error.server_message or error.response.headers.get("X-Error-Message") or ""
    said = f": {' '.join(told.split())}" if told.strip() else ""
    if status in _REFUSALS:
        what, code, remedy = _REFUSALS[HTTPStatus(status)]
        said = "" if status == HTTPStatus.UNAUTHORIZED else said
        return f"{what} ({status}{said})", code, remedy
    if wanted_pause(error) is None:
        return f"the Hub rejected the request ({status}{said})", "hub.refused", ""
    asked = error.response.headers.get("Retry-After", "")
    when = f" in {asked} seconds" if asked.isdecimal() else " later"
    return f"the Hub is busy ({status}{said})", "hub.run-again", f"run the same command again{when}"


def _cause(error: Exception) -> BaseException:
    """Return the cause of an error: errors of uploads are wrapped in one that names the file."""
    return (error.__cause__ if type(error) is RuntimeError else None) or error


def _names(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}
