"""Tests of adk_scoring."""
