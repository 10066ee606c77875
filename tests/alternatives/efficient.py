"""Right answers of attention that scales written in other ways."""
