"""The models of a run: any name that DSPy takes, and the engines that need nothing."""
