"""The commands that bring data and metric to the Hub, and pairs to other tools."""
