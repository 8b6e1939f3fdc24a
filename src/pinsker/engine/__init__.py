"""Stage: engine."""
