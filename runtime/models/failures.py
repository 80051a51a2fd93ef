"""What the errors of DSPy mean to a run: which error of spantree, and whether a second try can help.

DSPy raises its own classes at its boundary (`dspy.LM*Error`, `AdapterParseError`). Anything else that comes out
of a call is a bug of an engine or of ours, and stays what it is.
"""

from dataclasses import dataclass
from typing import Any

import dspy

from runtime.errors import (
    ContextOverflow,
    ModelError,
    ParseFailure,
    RateLimited,
    SpantreeError,
    TimeoutFailure,
    Unavailable,
)

LONGEST_DETAIL = 1000
"""Characters of the account of a parse failure, which goes back into a prompt and may quote the reply."""

_OVERFLOW_WORDS = (
    "context length",
    "context window",
    "context size",
    "too many tokens",
    "prompt is too long",
)

_SCHEMA_WORDS = ("response_format", "schema", "grammar", "guided", "structured output")


@dataclass(frozen=True)
class Failure:
    """An error to raise, and whether the same call may succeed when it is made again.

    `schema_refused`: it may when it is asked in words alone. `unreachable`: nobody answers at the address, so that it
    was never sent.
    """

    error: BaseException
    transient: bool = False
    schema_refused: bool = False
    unreachable: bool = False


def translated(raised: BaseException, *, custom_engine: bool) -> Failure:
    """The failure that `raised` stands for; bugs and cancellations are returned as they are."""
    if isinstance(raised, dspy.AdapterParseError):
        return Failure(ParseFailure(parse_message(raised), reply=raised.lm_response or ""))
    if isinstance(raised, dspy.LMUnexpectedError):
        return _unexpected(raised, custom_engine)
    if isinstance(raised, dspy.LMError):
        return _refused(raised) or _transient(raised) or Failure(Unavailable(first_line(raised)))
    return Failure(raised)


def parse_message(error: dspy.AdapterParseError) -> str:
    """What was wrong with a reply, without the reply itself."""
    detail = str(error).partition("Adapter ")[0].strip().rstrip(".")
    signature: Any = error.signature  # the class, not an instance, whatever the annotation says
    expected = ", ".join(signature.output_fields)
    found = ", ".join(error.parsed_result or ()) or "none"
    detail = (
        detail[:LONGEST_DETAIL].replace("[[ ##", "[ [ ##")
        or "the reply does not have the asked form"
    )
    return f"{detail}. Expected fields: {expected}. Found: {found}."


def first_line(error: BaseException) -> str:
    return (getattr(error, "message", "") or str(error)).strip().partition("\n")[0] or type(
        error
    ).__name__


def _refused(raised: dspy.LMError) -> Failure | None:
    """What no second try can mend: mistakes of the user, and prompts that are too long."""
    message = first_line(raised)
    if isinstance(raised, dspy.ContextWindowExceededError):
        return Failure(ContextOverflow(message))
    if isinstance(raised, dspy.LMUnsupportedModelError):
        return Failure(
            ModelError(message, hint="check the name of the model: --model, SPANTREE_MODEL")
        )
    if isinstance(raised, dspy.LMInvalidRequestError):
        overflow = any(words in message.lower() for words in _OVERFLOW_WORDS)
        if overflow:
            return Failure(ContextOverflow(message))
        schema = any(words in message.lower() for words in _SCHEMA_WORDS)
        return Failure(Unavailable(message), schema_refused=schema)
    if isinstance(raised, dspy.LMAuthError | dspy.LMNotConfiguredError):
        return Failure(ModelError(message, hint=_key_hint(raised)))
    if isinstance(raised, dspy.LMBillingError):
        return Failure(
            ModelError(message, hint="check the account at the provider, or choose another model")
        )
    if isinstance(raised, dspy.LMConfigurationError | dspy.LMUnsupportedFeatureError):
        return Failure(ModelError(message, hint="choose another model, or mend its settings"))
    return None


def _transient(raised: dspy.LMError) -> Failure | None:
    message = first_line(raised)
    if isinstance(raised, dspy.LMRateLimitError):
        return Failure(RateLimited(message, retry_after=raised.retry_after), transient=True)
    if isinstance(raised, dspy.LMTimeoutError):
        return Failure(TimeoutFailure(message), transient=True)
    if dspy.is_retryable_lm_error(raised):
        return Failure(Unavailable(message), transient=True, unreachable=_unconnected(raised))
    return None


def _unconnected(raised: BaseException) -> bool:
    """Whether no connection was made. The clients of DSPy have no class in common for it, only its name."""
    cause: BaseException | None = raised
    while cause is not None and type(cause).__name__ not in ("ConnectError", "ConnectTimeout"):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


def _unexpected(raised: dspy.LMUnexpectedError, custom_engine: bool) -> Failure:
    cause = raised.__cause__
    if isinstance(cause, SpantreeError):
        return Failure(cause)
    if isinstance(cause, TimeoutError):
        return Failure(TimeoutFailure(first_line(cause)), transient=True)
    if isinstance(cause, OSError):
        return Failure(Unavailable(first_line(cause)), transient=True)
    if custom_engine and cause is not None:
        return Failure(cause)
    return Failure(Unavailable(first_line(raised)))


def _key_hint(raised: dspy.LMError) -> str:
    keys = " or ".join(getattr(raised, "env_keys", ()) or ())
    return (
        f"set {keys} to a valid key"
        if keys
        else "set the API key of the provider, e.g. OPENAI_API_KEY"
    )
