"""Make texts of users safe to show in a terminal."""


def shown(text: str) -> str:
    r"""Return a text with all characters escaped that a terminal would obey or not show.

    These are control characters, line breaks, marks of writing direction, and halves of surrogate
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


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, which gets an s unless the number is one.

    Examples
    --------
    >>> counted(1, "row"), counted(13126, "row")
    ('1 row', '13,126 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def clipped(text: str, most: int = 200) -> str:
    """Return a text, shortened to its beginning and its end if it is too long.

    Examples
    --------
    >>> clipped("abcdefghijklmnopqrstuvwxyz", 13)
    'abcdef ... yz'
    """
    if len(text) <= most:
        return text
    end = (most - 5) // 3
    return f"{text[: most - 5 - end]} ... {text[len(text) - end :]}"
