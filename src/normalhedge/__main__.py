"""Make ``python -m normalhedge`` the same as the command ``normalhedge``."""

from normalhedge.cli import main

main()
