"""What each learner's nbgrader has to know of the exchange."""

c = get_config()  # type: ignore[name-defined]  # noqa: F821  # nbgrader's
c.Exchange.root = "/srv/nbgrader/exchange"
c.CourseDirectory.course_id = "attention-by-hand"
