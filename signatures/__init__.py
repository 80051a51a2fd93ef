"""What a model is asked, and the types in which it answers."""

from signatures.act import (
    Act,
    CountBy,
    Explore,
    Quote,
    SubmittedClaim,
    SubQuery,
    ToolCall,
    ToolName,
    TurnShown,
)
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
from signatures.judge import AffirmSupport, JudgeSupport, SupportVerdict
from signatures.leaf import AnalyzeLeaf
from signatures.plan import Action, Operation, Plan, PlannedStep
from signatures.refine import Decision, Refine

__all__ = [
    "Act",
    "Action",
    "AffirmSupport",
    "AnalyzeLeaf",
    "ClaimDigest",
    "ClaimField",
    "ClaimStatus",
    "ClassifyQuestion",
    "ComputedValue",
    "Conclude",
    "CountBy",
    "Decision",
    "EvidenceRef",
    "EvidenceSpan",
    "Explore",
    "JudgeSupport",
    "LeafClaim",
    "Operation",
    "Plan",
    "PlannedStep",
    "QuestionKind",
    "Quote",
    "Refine",
    "Statement",
    "SubQuery",
    "SubmittedClaim",
    "SupportVerdict",
    "TermStatistic",
    "ToolCall",
    "ToolName",
    "TurnShown",
]
