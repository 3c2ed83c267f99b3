"""What the Hub's client raises, told in one line and without secrets."""

import pytest
from support.refusals import check_refusal

from nnd.converters.hub.hub_errors import explain, scrub, wanted_pause


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("token hf_abcdefghijklmnopqrst was", "token hf_… was"),
        ("Illegal header value b'Bearer s3cret\\n'", "Illegal header value b'Bearer …'"),
        ("authorization: Basic dXNlcjpwYXNz, x", "authorization: Basic …, x"),
        ("proxy http://me:pass@proxy:8080 down", "proxy http://…@proxy:8080 down"),
        ("PUT https://s3.org/a/b?X-Sig=1&y=2 403", "PUT https://s3.org/a/b 403"),
        # Nothing of these is secret.
        ("call hf_hub_download for org/name", "call hf_hub_download for org/name"),
        ("see https://hf.co/datasets/org/name", "see https://hf.co/datasets/org/name"),
    ],
)
def test_what_looks_like_a_secret_is_left_out(text: str, scrubbed: str) -> None:
    assert scrub(text) == scrubbed


def test_the_token_is_left_out_whatever_it_looks_like(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", " open sesame ")
    assert scrub("said 'open sesame' to it") == "said '…' to it"


def test_an_error_is_one_line() -> None:
    error = explain(ValueError("Invalid metadata:\n- a\n\n- b"), "org/n")
    check_refusal(error, "hub.refused", "org/n")
    assert error.what.endswith(": Invalid metadata: - a - b")


def test_what_is_wrong_with_the_upload_of_a_file_decides() -> None:
    class NetworkError(Exception):
        """As the HTTP library names it."""

    def wrap(cause: Exception) -> Exception:
        wrapped = RuntimeError("Error while uploading 'a' to the Hub.")
        wrapped.__cause__ = cause
        return wrapped

    assert wanted_pause(wrap(NetworkError("gone"))) == 0
    assert wanted_pause(wrap(ValueError("wrong"))) is None
    check_refusal(explain(wrap(ValueError("wrong")), "org/n"), "hub.refused", "org/n")
