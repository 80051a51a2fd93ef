"""ChainOfThought: Direct, with the model thinking before it reads claims out of the text."""

from typing import Unpack

import dspy

from programs.baselines.direct import Direct
from programs.settings import ProgramSettings
from signatures import AnalyzeLeaf


class ChainOfThought(Direct):
    """Direct with `dspy.ChainOfThought` as the reader."""

    name = "cot"

    def __init__(self, *, window: int | None = None, **settings: Unpack[ProgramSettings]) -> None:
        super().__init__(window=window, **settings)
        self.analyze_leaf = dspy.ChainOfThought(AnalyzeLeaf)
