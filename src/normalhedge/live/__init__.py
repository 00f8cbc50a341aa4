"""What every object that changes shares: options, journals, state files and locks."""
