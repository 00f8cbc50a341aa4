"""Doctests are in the pages; the settings of the site and its check are programs."""

collect_ignore = ["conf.py", "check_site.py", "gallery", "notebooks", "reference/api"]
