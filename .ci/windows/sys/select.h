// Windows has no such header, and the Python.h of other systems includes it.
