"""From text to query vectors."""
