"""Stage: bounds."""
