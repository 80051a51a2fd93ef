"""The programs that answer."""
