"""Owns which of a server's error codes say that the user may not do what was asked."""

AUTHENTICATION_FAILED = 18
USER_NOT_FOUND = 11
"""What a server says of the owner of a certificate whom it doesn't know."""
NOT_ALLOWED_CODES = frozenset({13, AUTHENTICATION_FAILED, 8000})
"""Unauthorized, AuthenticationFailed, and AtlasError: what Atlas says to users of its smaller clusters."""
