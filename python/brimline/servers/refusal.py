"""Owns which of a server's error codes say that the user may not do what was asked."""

NOT_ALLOWED_CODES = frozenset({13, 18, 8000})
"""Unauthorized, AuthenticationFailed, and AtlasError: what Atlas says to users of its smaller clusters."""
