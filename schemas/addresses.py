"""The form of web addresses that are accepted from sources and shown as links.

An address from a source may come from anyone and ends up in cards that the Hub renders as HTML. So
only characters without a meaning in Markdown, HTML or YAML are allowed: no spaces, quotes, brackets
or backslashes, and no user or password before the host. Other characters can be written with
percent signs, and names of hosts in other scripts as `xn--…`.
"""

_HOST = r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:[0-9]{1,5})?"
URL = rf"https?://{_HOST}([/?#][A-Za-z0-9._~:/?#@&+,=%-]*)?"
"""An address, as a regular expression; source.schema.json has the same one."""
