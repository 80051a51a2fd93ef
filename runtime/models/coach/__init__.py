"""The coach: a stand-in, no language model, that writes instructions for an optimizer from the feedback it is shown."""
