"""A second application: it repeats what the user said."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.agents import Agent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.genai import types


class Echo(BaseLlm):  # type: ignore[misc, unused-ignore]  # a type where google-adk is installed
    async def generate_content_async(
        self, request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        last = request.contents[-1].parts or []
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=last[-1].text)]))


root_agent = Agent(name="echo", model=Echo(model="echo"))
