"""Train a drafter for any Llama-family target from the target's own text.

Three steps, each of which goes on where it was stopped: `write` text with the target, `train` a
small model or heads on it, `evaluate` them in the engine; and `export` a small model for
transformers. `python -m specdec distill` runs them.
"""
