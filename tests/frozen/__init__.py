"""What the package computed before its engine was rewritten, and how to compute it again."""
