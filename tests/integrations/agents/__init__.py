"""The folder of applications that ADK is given."""
