// The settings of Python for 64-bit Windows, as far as `nox -s cross` needs them to compile the core.
#pragma once
#define MS_WINDOWS
#define MS_WIN64
#define MS_WIN32
#define NT_THREADS
#define WITH_THREAD
#define HAVE_STDDEF_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_WCHAR_H 1
#define HAVE_PY_SSIZE_T 1
typedef __int64 Py_ssize_t;
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_OFF_T 4
#define ALIGNOF_LONG 4
#define ALIGNOF_SIZE_T 8
#define ALIGNOF_MAX_ALIGN_T 8
