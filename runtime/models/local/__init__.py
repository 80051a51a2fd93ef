"""Small open models that run in this process, on the CPU, offline: `--model local/NAME-OR-PATH`.

weights: the file behind a name. processor: whether this machine can run it. server: llama.cpp in process, one request
at a time. pool: each file is loaded once. form: what a reply may look like, token by token. engine: all of it behind
`dspy.LM`. The bindings are an extra (`spantree[local]`) and imported at the first call only.
"""
