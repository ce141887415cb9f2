"""Owns experiments: pure ask/tell state machines over trials, so that they are tested without a server."""
