"""Tests against real harnesses; `.ci/integrations` runs them in environments of their own."""
