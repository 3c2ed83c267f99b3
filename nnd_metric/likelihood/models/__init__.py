"""Language models: loaded from a folder or the Hub, or wrapped as they are."""
