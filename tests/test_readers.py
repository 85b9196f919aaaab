"""`read`: what a source may be, how a format is recognised, what goes wrong and what it says."""

from __future__ import annotations

import pytest

from adk_scoring.readers import READERS, read


@pytest.mark.parametrize("name", READERS)
def test_the_example_of_a_format_is_recognised_and_read(name: str) -> None:
    reader = READERS[name]
    (case,) = read(reader.example)
    assert case == read(reader.example, format=name)[0]
    assert case.error is None
    (turn,) = case.turns
    said = turn.actual or turn.expected[0]
    assert (said.user_text, said.response) == ("Weather in Paris?", "It is 20C.")
