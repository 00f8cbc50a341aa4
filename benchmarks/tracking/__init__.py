"""Trackers side by side: the hedged tracker, Kalman filters and particle filters.

Settings were chosen on the seeds 0 to 4 and the flights in `cases.DEVELOP_FLIGHTS`; what is
reported is judged once on the seeds 100 to 109 and the flights in `cases.JUDGE_FLIGHTS`.
"""
