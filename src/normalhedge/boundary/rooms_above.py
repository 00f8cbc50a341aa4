"""Call a function of a room above, for methods that open a page.

A room imports only from the rooms below it. A result has the method ``report`` all the same, where
its user looks for it. The method names the function of the room above, which Python imports when
the method is called; nothing of the room depends on it.
"""

import importlib
from typing import Any


def call(module: str, function: str, *arguments: Any, **options: Any) -> Any:
    """Return the result of a function of a module that is imported now.

    Examples
    --------
    >>> call("math", "sqrt", 4.0)
    2.0
    """
    return getattr(importlib.import_module(module), function)(*arguments, **options)
