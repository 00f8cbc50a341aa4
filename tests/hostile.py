"""A text that tries to do harm to a terminal and to a page."""

HOSTILE = "\x1b[31mred\x07 <a href='https://example.org'>x</a>"
