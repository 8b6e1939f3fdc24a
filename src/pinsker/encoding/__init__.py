"""Stage: encoding."""
