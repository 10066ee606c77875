"""The class report of a problem set, on a page and in a terminal: it reads verdicts on file and changes none."""
