"""What every run stands on: errors, limits, journal, fan-out, models."""
