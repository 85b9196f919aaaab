"""Five cases for the agent `trip`: three that pass, one that fails, one that expects nothing and so is skipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adk_scoring import Case, Invocation, Session, ToolCall, Turn, write_evalset

AGENTS = Path(__file__).parent / "agents"
TRIP = AGENTS / "trip"
PASSING, FAILING, SKIPPED = ("weather", "hello", "booking"), "wrong_city", "nothing_expected"


def expects(case_id: str, *turns: tuple[str, list[Any] | None, str | None]) -> Case:
    sides = [
        Invocation(text, None if calls is None else tuple(map(ToolCall.of, calls)), said) for text, calls, said in turns
    ]
    session = Session("trip", "ada", {"name": "Ada"})
    return Case(case_id, tuple(Turn(None, (side,)) for side in sides), set_id="trips", session=session)


BOTH = [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "London"}), ("convert", {"celsius": 20.0})]
HELLO: tuple[str, list[Any] | None, str | None] = ("hello", [("greet", {})], "Hello, Ada!")
CASES = [
    expects("weather", ("weather please", BOTH, "20 C in Paris and London."), HELLO),
    expects("hello", HELLO),
    expects("booking", ("book it", [("book_flight", {"city": "Oslo", "price": 120})], "Booked Oslo for 120.")),
    expects(FAILING, ("weather please", [("get_weather", {"city": "Berlin"})], "20 C in Paris and London.")),
    expects(SKIPPED, ("hello", None, None)),
]
CRITERIA: dict[str, Any] = {
    "trajectory_in_order_match": {"threshold": 1.0, "match": {"ignore_tools": ["transfer_to_agent"]}},
    "response_rouge1": 0.8,
}


def write_cases(path: Path) -> Path:
    assert write_evalset(CASES, path) == len(CASES)
    return path
