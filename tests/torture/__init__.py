"""The fault bench: what a mixture, a stream and a file survive. ``python -m tests.torture``.

Each kind of fault is a module with ``run(quick, rng)``, which returns how many faults were tried,
how many of them did harm, and the first examples of those with what is needed to reproduce them.
"""
