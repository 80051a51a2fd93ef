"""The tools as Python functions, for a sandbox and for ReAct: their hints and docstrings are what a model reads."""

from collections.abc import Callable
from inspect import cleandoc
from typing import Any, Literal

Output = dict[str, Any]
CallTool = Callable[[str, dict[str, Any]], Output]


def tool_functions(call: CallTool) -> list[Callable[..., Output]]:
    """The functions by the names of the tools. Each calls `call` with its name and its arguments."""
    functions = [*_looking(call), *_searching(call), *_reading(call)]
    order = ("list_sources", "search", "count", "rank", "read_span", "subcall", "budget")
    for each in functions:
        each.__doc__ = cleandoc(each.__doc__ or "")
    return sorted(functions, key=lambda each: order.index(each.__name__))


def _looking(call: CallTool) -> list[Callable[..., Output]]:
    def list_sources(source: str = "", cursor: int = 0) -> dict[str, Any]:
        """List the sources: {"sources": [{"source", "lines", "characters", "partitions", "from", "to"}],
        "not_readable": [{"source", "why"}], "next_cursor", "cut"}. With `source`, the partitions of that one:
        {"source", "lines", "characters", "partitions": [{"id", "label", "first_line", "last_line", "characters"}],
        "next_cursor", "cut"}. The next page: the same arguments and cursor=next_cursor.
        """
        return call("list_sources", {"source": source, "cursor": cursor})

    def budget() -> dict[str, Any]:
        """What is left: {"left", "cut"}."""
        return call("budget", {})

    return [list_sources, budget]


def _searching(call: CallTool) -> list[Callable[..., Output]]:
    def search(
        pattern: str, ignore_case: bool = False, source: str = "", cursor: int = 0
    ) -> dict[str, Any]:
        """Find every line that contains the pattern, exhaustively: {"pattern", "total",
        "by_source": [{"source", "count"}], "hits": [{"span_id", "source", "line", "text"}], "next_cursor", "cut"}.
        A pattern is plain text, "exact text" in double quotes, /a regular expression/ or not "text"; of several, one a
        line of the argument, all must match. `source`: a source or a partition, "" for all. The next page: the same
        arguments and cursor=next_cursor.
        """
        given = {"pattern": pattern, "ignore_case": ignore_case, "source": source}
        return call("search", {**given, "cursor": cursor})

    def count(
        pattern: str,
        by: Literal["", "source", "time"] = "",
        ignore_case: bool = False,
        source: str = "",
    ) -> dict[str, Any]:
        """Count the lines that contain the pattern (as in search), exactly: {"pattern", "total",
        "by": [{"label", "count"}], "claim_id", "cut"}. The `claim_id` can be named as evidence.
        """
        given = {"pattern": pattern, "by": by, "ignore_case": ignore_case, "source": source}
        return call("count", given)

    def rank(query: str, k: int = 8) -> dict[str, Any]:
        """Find the k passages (50 at most) most relevant to the query: {"query",
        "passages": [{"span_id", "source", "first_line", "text"}], "exhaustive": False, "cut"}. Never use it for
        counts, lists or absence.
        """
        return call("rank", {"query": query, "k": k})

    return [search, count, rank]


def _reading(call: CallTool) -> list[Callable[..., Output]]:
    def read_span(
        span_id: str = "",
        source: str = "",
        first_line: int = 0,
        last_line: int = 0,
        cursor: int = 0,
    ) -> dict[str, Any]:
        """Read exact text, of a span or a partition by `span_id`, or of the lines `first_line` to `last_line` of a
        `source` (0 for its ends): {"spans": [{"span_id", "source", "first_line", "text"}], "next_line",
        "next_cursor", "cut"}. The next page: the same arguments and cursor=next_cursor.
        """
        lines = {"first_line": first_line, "last_line": last_line}
        return call("read_span", {"span_id": span_id, "source": source, **lines, "cursor": cursor})

    def subcall(question: str, span_ids: list[str] = [], cursor: int = 0) -> dict[str, Any]:  # noqa: B006
        """Let readers answer a question from spans, partitions or sources by their ids ([] for everything):
        {"claims": [{"claim_id", "text", "status", "time", "quotes": [{"source", "line", "quote"}]}],
        "partitions": {"read", "failed", "unread"}, "unknowns", "next_cursor", "cut"}. A `claim_id` can be named as
        evidence. The next page: the same arguments and cursor=next_cursor; nobody is asked again.
        """
        given = {"question": question, "span_ids": list(span_ids)}
        return call("subcall", {**given, "cursor": cursor})

    return [read_span, subcall]
