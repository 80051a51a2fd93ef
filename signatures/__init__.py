"""What a model is asked, and the types in which it answers."""

from signatures.claims import (
    ClaimDigest,
    ClaimField,
    ClaimStatus,
    ComputedValue,
    EvidenceRef,
    EvidenceSpan,
    LeafClaim,
    Statement,
    TermStatistic,
)
from signatures.classify import ClassifyQuestion, QuestionKind
from signatures.conclude import Conclude
from signatures.leaf import AnalyzeLeaf
from signatures.plan import Action, Operation, Plan, PlannedStep
from signatures.refine import Decision, Refine

__all__ = [
    "Action",
    "AnalyzeLeaf",
    "ClaimDigest",
    "ClaimField",
    "ClaimStatus",
    "ClassifyQuestion",
    "ComputedValue",
    "Conclude",
    "Decision",
    "EvidenceRef",
    "EvidenceSpan",
    "LeafClaim",
    "Operation",
    "Plan",
    "PlannedStep",
    "QuestionKind",
    "Refine",
    "Statement",
    "TermStatistic",
]
