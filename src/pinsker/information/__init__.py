"""Stage: information."""
