"""What happens inside the process of one call: user code in, JSON result or failure out."""
