"""Compile options, chosen here and nowhere else."""

from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numba
from llvmlite import ir
from numba.core import cgutils as _cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

P = ParamSpec("P")
T = TypeVar("T")

cgutils: Any = _cgutils  # these have no types
types: Any = numba.types

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
    # Files of the cache are called by this name: two algorithms of one file would share theirs.
    parts = "-".join(each.py_func.__qualname__ for each in kernels.values())
    function.__qualname__ = f"{source.__qualname__}-of-{parts}"
    function.__doc__ = source.__doc__
    return kernel(VECTOR)(cast(Callable[P, T], function))


def address(function: Callable[..., Any], signature: Any) -> int:
    """Return where the machine code of a kernel for these arguments is; compile it if need be.

    A kernel that is given addresses serves many others, those of files it does not know, and is
    compiled once for all of them: a kernel given as such would be compiled anew for each, and never
    found in the cache. An address is good in the process that asked for it only.
    """
    kernel: Any = function
    kernel.compile(signature.args)
    compiled = kernel.overloads[signature.args]
    if compiled.signature.return_type != signature.return_type:
        raise TypeError(f"{kernel.__name__} returns {compiled.signature.return_type}")
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def call_at(signature: Any) -> Callable[..., Any]:
    """Return what calls, inside of kernels, the kernel at an address, its first argument."""

    def call(_context: Any, _place: Any, *arguments: Any) -> Any:
        if arguments != signature.args:
            raise TypingError(f"a kernel of {signature} is called with {arguments}")

        def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
            convention, result = context.call_conv, signature.return_type
            kind = ir.PointerType(convention.get_function_type(result, signature.args))
            status, value = convention.call_function(
                builder,
                builder.inttoptr(given[0], kind),
                result,
                signature.args,
                cgutils.unpack_tuple(builder, given[1]),
            )
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return value

        together = types.StarArgTuple.from_types(arguments)
        return signature.return_type(types.int64, together), generate

    return cast(Callable[..., Any], intrinsic(call))


def _borrowed(_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        view = context.make_array(array)(context, builder, given[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return array(array), generate


borrowed = cast(Callable[[Any], Any], intrinsic(_borrowed))
"""Return, inside of kernels, an array whose references are not counted, nor those of its parts.

Counting is atomic: with ten experts it takes longer than the arithmetic. The array must be owned by
who called the kernel, and must not be returned.
"""
