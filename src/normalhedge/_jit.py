"""Compile options, chosen here and nowhere else."""

from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
T = TypeVar("T")

STRICT = frozenset({"contract"})
"""Every operation in the order written; fused multiply-add allowed."""

VECTOR = frozenset({"reassoc", "contract", "nsz"})
"""Sums may be reordered, to run in vector registers. NaN and infinity keep their meaning."""


def kernel(
    flags: frozenset[str], *, inline: bool = True
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Compile a function on its first call, cache the machine code on disk and release the GIL.

    Kernels are inlined into the kernels that call them: handing an array over costs more than a
    loop over ten experts. One long loop is better left by itself, where the registers are its own.
    """

    def compile_lazily(function: Callable[P, T]) -> Callable[P, T]:
        jitted = numba.njit(
            cache=True, nogil=True, error_model="numpy", fastmath=set(flags), forceinline=inline
        )
        return cast(Callable[P, T], jitted(function))

    return compile_lazily


def fill(template: Callable[P, T], home: Callable[..., Any], **kernels: Any) -> Callable[P, T]:
    """Compile a template, a function that calls kernels by names that are still open.

    It becomes a function of the file of ``home`` in which the names are these kernels. A kernel
    that is an argument or in a closure would be compiled anew by every process; this one is cached.
    """
    source = cast(FunctionType, template)
    place = cast(Any, home).py_func
    code = source.__code__.replace(co_filename=place.__code__.co_filename)
    function = FunctionType(code, {**source.__globals__, **kernels}, source.__name__)
    function.__module__ = place.__module__
    function.__doc__ = source.__doc__
    return kernel(VECTOR)(cast(Callable[P, T], function))
