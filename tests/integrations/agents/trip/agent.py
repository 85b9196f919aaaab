"""A google-adk agent with tools, parallel calls and a sub-agent, whose model follows a script and needs no network."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import Agent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.tools import ToolContext
from google.genai import types


def get_weather(city: str) -> dict[str, Any]:
    """Get the weather of a city."""
    return {"city": city, "celsius": 20}


def convert(celsius: float) -> dict[str, Any]:
    """Convert a temperature to Fahrenheit."""
    return {"fahrenheit": celsius * 9 / 5 + 32}


def greet(tool_context: ToolContext) -> dict[str, Any]:
    """Say who the user is."""
    return {"name": tool_context.state.get("name", "stranger")}


def book_flight(city: str, price: float) -> dict[str, Any]:
    """Book a flight."""
    return {"booked": city, "price": price}


def _call(name: str, **args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


def _say(text: str, *, thought: bool = False) -> types.Part:
    return types.Part(text=text, thought=thought or None)


class Script(BaseLlm):  # type: ignore[misc, unused-ignore]  # a type where google-adk is installed
    """A model that answers by what the user said last and which tools answered since."""

    async def generate_content_async(
        self, request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        said, answers = "", []
        for content in request.contents:
            for part in content.parts or ():
                if part.function_response is not None:
                    answers.append(part.function_response.response or {})
                elif content.role == "user" and part.text and not part.text.startswith("For context"):
                    said, answers = (part.text, []) if "] " not in part.text else (said, answers)
        yield LlmResponse(
            content=types.Content(role="model", parts=self.parts(said.lower(), answers)),
            usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=10, candidates_token_count=5),
        )

    def parts(self, said: str, answers: list[dict[str, Any]]) -> list[types.Part]:
        if self.model == "booker":
            if not answers:
                return [_call("book_flight", city="Oslo", price=120.0)]
            return [_say("Booked Oslo for 120.")]
        if "weather" in said:
            if not answers:
                return [_call("get_weather", city="Paris"), _call("get_weather", city="London")]
            if len(answers) == 2:
                return [_say("Let me convert."), _call("convert", celsius=20.0)]
            return [_say("Both have 20, that is 68 F.", thought=True), _say("20 C in Paris "), _say("and London.")]
        if "book" in said:
            return [_call("transfer_to_agent", agent_name="booker")]
        if "break" in said:
            if answers:
                raise RuntimeError("the model is down")
            return [_call("get_weather", city="Rome")]
        if not answers:
            return [_call("greet")]
        return [_say(f"Hello, {answers[-1]['name']}!")]


root_agent = Agent(
    name="concierge",
    model=Script(model="concierge"),
    instruction="Help with trips.",
    tools=[get_weather, convert, greet],
    sub_agents=[
        Agent(name="booker", model=Script(model="booker"), description="Books flights.", tools=[book_flight]),
    ],
)
