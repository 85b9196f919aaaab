"""Texts: tokens of every script, and how alike two texts are. Knows nothing of cases or metrics.

`tokens` makes texts comparable; `rouge`, `similarity` and `numbers` compare two; `pairs` compares many at once with
the same numbers to the last bit; `diff` shows a person what matched. `encoding` and `bulk` make it fast.
"""

from __future__ import annotations

from .tokens import TOKENIZERS, Tokenizer, normalize, porter_stem, require_text, resolve_tokenizer, tokenize

__all__ = [
    "TOKENIZERS",
    "Tokenizer",
    "normalize",
    "porter_stem",
    "require_text",
    "resolve_tokenizer",
    "tokenize",
]
