from . import agent  # noqa: F401  # where ADK looks
