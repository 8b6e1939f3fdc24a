"""Stage: selection."""
