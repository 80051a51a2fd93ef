"""What a question says by its form alone: its kind, the strings it names, what it denies, its hours.

Programs hold every model to these structural signals, and the embedded reader has nothing else to go by.
"""
