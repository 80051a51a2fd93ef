"""spantree: answers over long text, with every statement traced to the original characters."""
