"""What the page Chapter shows."""
