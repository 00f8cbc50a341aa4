"""``python -m normalhedge`` is ``normalhedge``."""

from normalhedge.cli import main

main()
