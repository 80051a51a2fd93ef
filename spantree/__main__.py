"""`python -m spantree`: the command line."""

from spantree.cli import main

if __name__ == "__main__":
    main()
