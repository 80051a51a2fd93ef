"""Measure, compare, gate, optimize: the evaluation harness stands on this floor."""
