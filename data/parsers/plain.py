"""Parsers of formats that have no rules a text could break: text, logs, Markdown and source code."""

import re
from pathlib import PurePosixPath
from typing import ClassVar

from data.parsers.document import PlainParser

_LOG_NAME = re.compile(r"\.log([.-][\w-]+)*$|^(syslog|messages)(\.\d+)?$", re.IGNORECASE)


class MarkdownParser(PlainParser):
    """Markdown."""

    name = "markdown"
    media_types: ClassVar = dict.fromkeys((".md", ".markdown", ".mkd", ".mdx"), "text/markdown")


class LogParser(PlainParser):
    """Logs, rotated ones too (`app.log.1`)."""

    name = "log"
    timed = True
    media_types: ClassVar = dict.fromkeys((".out", ".err", ".stdout", ".stderr"), "text/x-log")

    def accepts(self, path: PurePosixPath, head: bytes) -> bool:
        """By the name; what else looks like a log is found out when no parser knows the suffix."""
        return bool(_LOG_NAME.search(path.name)) or super().accepts(path, head)

    def media_type(self, path: PurePosixPath) -> str:
        """The same for all."""
        return "text/x-log"


class TextParser(PlainParser):
    """Plain text, and everything else that turns out to be text."""

    name = "text"
    timed = True
    media_types: ClassVar = {
        **dict.fromkeys((".txt", ".text", ".asc"), "text/plain"),
        ".rst": "text/x-rst",
        ".tex": "text/x-tex",
        ".adoc": "text/asciidoc",
        ".org": "text/org",
        ".srt": "application/x-subrip",
        ".vtt": "text/vtt",
        ".eml": "message/rfc822",
        ".diff": "text/x-diff",
        ".patch": "text/x-diff",
    }


class CodeParser(PlainParser):
    """Source code and configuration."""

    name = "code"
    media_types: ClassVar = {
        **dict.fromkeys((".py", ".pyi", ".pyw"), "text/x-python"),
        **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "text/javascript"),
        **dict.fromkeys((".ts", ".tsx", ".mts"), "text/x-typescript"),
        **dict.fromkeys((".c", ".h"), "text/x-c"),
        **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp"), "text/x-c++"),
        **dict.fromkeys((".sh", ".bash", ".zsh"), "text/x-shellscript"),
        **dict.fromkeys((".yaml", ".yml"), "application/yaml"),
        **dict.fromkeys((".ini", ".cfg", ".conf", ".properties"), "text/x-ini"),
        **dict.fromkeys((".kt", ".kts"), "text/x-kotlin"),
        **dict.fromkeys((".ex", ".exs"), "text/x-elixir"),
        ".bat": "text/x-batch",
        ".clj": "text/x-clojure",
        ".cs": "text/x-csharp",
        ".css": "text/css",
        ".dart": "text/x-dart",
        ".erl": "text/x-erlang",
        ".go": "text/x-go",
        ".gradle": "text/x-groovy",
        ".graphql": "text/x-graphql",
        ".groovy": "text/x-groovy",
        ".hs": "text/x-haskell",
        ".java": "text/x-java",
        ".jl": "text/x-julia",
        ".lua": "text/x-lua",
        ".m": "text/x-objective-c",
        ".ml": "text/x-ocaml",
        ".php": "text/x-php",
        ".pl": "text/x-perl",
        ".proto": "text/x-protobuf",
        ".ps1": "text/x-powershell",
        ".r": "text/x-r",
        ".rb": "text/x-ruby",
        ".rs": "text/x-rust",
        ".scala": "text/x-scala",
        ".scss": "text/x-scss",
        ".sql": "application/sql",
        ".swift": "text/x-swift",
        ".tf": "text/x-terraform",
        ".toml": "application/toml",
        ".vue": "text/x-vue",
        ".xml": "application/xml",
        ".zig": "text/x-zig",
    }
