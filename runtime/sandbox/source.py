"""What can be read off the source of a cell without running it."""

import io
import re
import tokenize

_PRINT = re.compile(r"\bprint\b")
_SKIPPED = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT})


def mentions_print(code: str) -> bool:
    """Whether the code uses the name `print`, called or not; in doubt, yes.

    Tokens, not a syntax tree: the sandbox accepts sources that this Python's parser does not, hostile nesting can
    exhaust the parser, and its warnings about a model's string escapes would reach the user's terminal.
    """
    if not _PRINT.search(code):
        return False
    try:
        return any(
            token.type == tokenize.NAME and token.string == "print" and before not in (".", "def")
            for before, token in _tokens(code)
        )
    except (tokenize.TokenError, SyntaxError, ValueError):
        return True


def _tokens(code: str) -> list[tuple[str, tokenize.TokenInfo]]:
    before, pairs = "", []
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        pairs.append((before, token))
        if token.type not in _SKIPPED:
            before = token.string
    return pairs
