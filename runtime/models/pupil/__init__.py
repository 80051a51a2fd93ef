"""The pupil: a stand-in, no language model, whose errors depend on the instructions and the demos of its prompt."""
