"""Attention over one packed row: no request sees another, and each device has its kernel."""
