"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# A machine under load is no reason for a test to fail.
settings.register_profile("adk_scoring", deadline=None)
settings.load_profile("adk_scoring")
