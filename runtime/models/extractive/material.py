"""Material: what the conclusion is made of."""

from dataclasses import dataclass

from runtime.models.extractive.wording import Wording, wording_for
from runtime.questions.notation import question_of
from signatures import ClaimDigest, ComputedValue


@dataclass(frozen=True)
class Material:
    """The inputs of `Conclude`, read."""

    question: str
    kind: str
    claims: tuple[ClaimDigest, ...]
    computed: tuple[ComputedValue, ...]
    coverage: str

    @property
    def usable(self) -> list[ClaimDigest]:
        """The claims that say something about the question."""
        return [
            claim for claim in self.claims if claim.status != "insufficient" and claim.text.strip()
        ]

    @property
    def by_id(self) -> dict[str, ClaimDigest]:
        return {claim.claim_id: claim for claim in self.claims}

    @property
    def asked(self) -> str:
        """The question itself, without the frame of a child's task."""
        return question_of(self.question)

    @property
    def wording(self) -> Wording:
        return wording_for(self.asked)
