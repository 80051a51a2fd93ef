"""The errors of spantree, in one tree.

SpantreeError
├── UserError              a mistake that the user can mend: one message, a hint, exit status 2
│   ├── CorpusError        a path, an encoding, an empty corpus, a corpus that changed under a run
│   ├── PatternError       a search pattern that is not valid or not supported
│   ├── QuestionError      an empty or malformed question
│   ├── QuestionSetError   a question set that cannot be built, found, read or trusted
│   ├── LimitsError        limits that contradict each other or are too small to start
│   ├── ModelError         an unknown model name, missing credentials, an account without access
│   ├── BundleError        a saved program that is damaged, or does not fit what is installed
│   ├── SandboxError       a sandbox that does not start or does not answer; never an observation
│   └── RunError           no such run, a run that another process holds, a journal of a newer version
├── LimitReached           a limit of the ledger: ends in a partial answer
├── RunCancelled           the run was told to stop: no call starts after it
└── StepError              an outcome that a plan can react to; `error_class` names it
    ├── TimeoutFailure     timeout          wait, retry the original action
    ├── RateLimited        rate_limit       back off
    ├── PermissionFailure  permission       ask; block only the dependents
    ├── MissingInput       missing_input    ask
    ├── ParseFailure       parse_failure    one retry with the error spelled out
    ├── ContextOverflow    context_overflow split
    ├── TruncatedReply     truncated        split; a cut list parses as a valid shorter one
    ├── SandboxFailure     sandbox
    ├── NotFound           not_found
    └── Unavailable        unavailable      the model's service failed

Anything else that is raised is a bug, and a bug is not an observation: it is never caught on the way up.
"""

from typing import ClassVar, Literal

ErrorClass = Literal[
    "timeout",
    "rate_limit",
    "permission",
    "missing_input",
    "parse_failure",
    "context_overflow",
    "truncated",
    "sandbox",
    "not_found",
    "unavailable",
]


class SpantreeError(Exception):
    """Base of all errors that spantree raises on purpose."""


class UserError(SpantreeError):
    """A mistake that the user can mend. `hint` says what to do next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class CorpusError(UserError):
    """Raised when a corpus cannot be built, opened or trusted."""


class PatternError(UserError):
    """Raised when a search pattern is not valid, or not supported by RE2."""


class QuestionError(UserError):
    """Raised when a question is empty or malformed."""


class QuestionSetError(UserError):
    """Raised when a question set cannot be built, found, read or trusted."""


class LimitsError(UserError):
    """Raised when limits contradict each other or are too small to start. `limit` names the one that is at fault."""

    def __init__(self, message: str, hint: str = "", *, limit: str = "") -> None:
        super().__init__(message, hint)
        self.limit = limit


class ModelError(UserError):
    """Raised when a model name is unknown, or its credentials are missing or refused."""


class SandboxError(UserError):
    """Raised when a sandbox cannot be started or does not answer: infrastructure, never an observation."""


class BundleError(UserError):
    """Raised when a saved program (a bundle, or the state of its predictors) is damaged or does not fit."""


class RunError(UserError):
    """Raised when a run cannot be found, held or read."""


class LimitReached(SpantreeError):
    """Raised when a reservation would exceed a limit. `used` and `cap` are in the unit of the limit."""

    def __init__(self, limit: str, used: float, cap: float) -> None:
        super().__init__(f"limit reached: {limit} ({used:g} of {cap:g})")
        self.limit = limit
        self.used = used
        self.cap = cap


class RunCancelled(SpantreeError):
    """Raised when a call is asked for after the run was cancelled."""


class StepError(SpantreeError):
    """Base of the outcomes that a plan can react to."""

    error_class: ClassVar[ErrorClass]


class TimeoutFailure(StepError):
    """Raised when a call or an action exceeded its time."""

    error_class = "timeout"


class RateLimited(StepError):
    """Raised when the service asked to slow down. `retry_after` is in seconds, or None."""

    error_class = "rate_limit"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class PermissionFailure(StepError):
    """Raised when an action needs a permission that the run does not have."""

    error_class = "permission"


class MissingInput(StepError):
    """Raised when a step refers to an input that does not exist."""

    error_class = "missing_input"


class ParseFailure(StepError):
    """Raised when a reply does not have the asked form. `reply` is the raw text."""

    error_class = "parse_failure"

    def __init__(self, message: str, reply: str = "") -> None:
        super().__init__(message)
        self.reply = reply


class ContextOverflow(StepError):
    """Raised when a prompt does not fit the window of the model."""

    error_class = "context_overflow"


class TruncatedReply(StepError):
    """Raised when a reply stopped at its length limit."""

    error_class = "truncated"


class SandboxFailure(StepError):
    """Raised when code in the sandbox failed or was refused."""

    error_class = "sandbox"


class NotFound(StepError):
    """Raised when something that a step names does not exist in the corpus."""

    error_class = "not_found"


class Unavailable(StepError):
    """Raised when the service of a model failed in another way."""

    error_class = "unavailable"
