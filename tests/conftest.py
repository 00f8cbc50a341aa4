"""Settings of the tests."""

from hypothesis import settings

settings.register_profile("normalhedge", deadline=None)  # a busy machine is no failure
settings.load_profile("normalhedge")
