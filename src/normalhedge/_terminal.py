"""Text of users on its way to a terminal: it is shown, and does nothing."""


def shown(text: str) -> str:
    r"""Return a text with everything escaped that a terminal would obey or not show.

    Those are control characters, line breaks, marks of writing direction, and halves of surrogate
    pairs.

    Examples
    --------
    >>> print(shown("red \x1b[31m"))
    red \x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def clipped(text: str, most: int = 200) -> str:
    """Return a text of at most so many characters: its beginning and its end.

    Examples
    --------
    >>> clipped("abcdefghijklmnopqrstuvwxyz", 13)
    'abcdef ... yz'
    """
    if len(text) <= most:
        return text
    end = (most - 5) // 3
    return f"{text[: most - 5 - end]} ... {text[len(text) - end :]}"
