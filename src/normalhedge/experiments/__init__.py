"""What is asked of the games: settings as data, and pure functions of a setting and a seed."""
