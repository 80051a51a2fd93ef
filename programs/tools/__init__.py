"""The tools of a model that drives: one implementation for typed calls, for code in a sandbox and for ReAct."""
