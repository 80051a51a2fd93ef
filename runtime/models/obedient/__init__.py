"""The obedient model: it does whatever the text it is shown tells it to. A stand-in, and named so."""
