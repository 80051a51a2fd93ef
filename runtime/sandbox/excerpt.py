"""An excerpt: of text that arrives in pieces, the head and the tail, within a cap, and a note of what is missing.

However much arrives, no more than about three times the cap is held.
"""


class Excerpt:
    """Keeps the first and the last of what it is given. `characters` counts all of it."""

    def __init__(self, cap: int) -> None:
        self.characters = 0
        self._cap = cap
        self._head_room = cap - cap // 2
        self._head: list[str] = []
        self._tail_room = cap // 2
        self._tail = ""

    def add(self, piece: str) -> None:
        self.characters += len(piece)
        if self._head_room:
            taken = piece[: self._head_room]
            self._head.append(taken)
            self._head_room -= len(taken)
            piece = piece[len(taken) :]
        if piece:
            self._tail += piece[-self._tail_room :] if self._tail_room else ""
            if len(self._tail) > 2 * self._tail_room:
                self._tail = self._tail[-self._tail_room :]

    def text(self) -> str:
        """All of it if it is within the cap; else head, note and tail, together no longer than the cap."""
        head = "".join(self._head)
        if self.characters <= self._cap:
            return head + self._tail
        note = f"\n[... the middle of {self.characters:,} characters is left out: print less ...]\n"
        room = max(self._cap - len(note), 0)
        last = room // 2
        return head[: room - last] + note + (self._tail[-last:] if last else "")


def excerpt(text: str, cap: int) -> str:
    """`text` within a cap."""
    if len(text) <= cap:
        return text
    kept = Excerpt(cap)
    kept.add(text)
    return kept.text()
