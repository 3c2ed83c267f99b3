"""Texts to token ids: protocols, templates, and which tokens are scored."""
