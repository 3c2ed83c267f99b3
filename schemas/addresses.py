"""Which addresses of the web are taken from sources, and shown as links.

An address from a source may come from anybody, and lands in cards that the Hub renders as HTML. So
it is held to characters that mean nothing in Markdown, HTML or YAML: no spaces, quotes, brackets,
backslashes, and no user or password before the host. What else an address may hold can be written
with percent signs, and the name of a host in other scripts as `xn--…`.
"""

_HOST = r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:[0-9]{1,5})?"
URL = rf"https?://{_HOST}([/?#][A-Za-z0-9._~:/?#@&+,=%-]*)?"
"""An address, as a regular expression; source.schema.json has the same one."""
