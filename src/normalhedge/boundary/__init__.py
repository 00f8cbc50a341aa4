"""Where the outside comes in: arguments, texts, files, terminals, threads, optional libraries."""
