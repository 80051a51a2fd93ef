"""Question sets: how they are kept, checked, split, found and made."""
