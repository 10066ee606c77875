"""Opens nbgrader's database for one problem set of a course: an SQLite file, or a server."""

from __future__ import annotations

from dataclasses import dataclass

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import URL, make_url
from sqlalchemy.orm import Session

from . import rows


@dataclass(frozen=True)
class Address:
    """Where a gradebook is. place: its file, or the address without a password, for messages"""

    url: URL
    place: str

    @classmethod
    def of(cls, coursedir: CourseDirectory) -> Address:
        """What a course's settings say."""
        url = make_url(coursedir.db_url)
        is_file = url.get_backend_name() == "sqlite"
        return cls(url, str(url.database) if is_file else url.render_as_string(hide_password=True))


class Database:
    """A session of nbgrader's database, and what that held of everybody's submissions when it was opened.

    released: the problem set as it was released; MissingEntry where it was not
    """

    def __init__(self, address: Address, course_id: str, problem_set: str, seconds: float) -> None:
        """seconds: how long to wait for another program that holds the database."""
        kind = address.url.get_backend_name()
        waits = {name: text for name, text in _waits(kind, seconds).items() if name not in address.url.query}
        book = Gradebook.__new__(Gradebook)
        try:
            # Called apart from __new__, so that what it opened is closed where it fails.
            book.__init__(address.url.update_query_dict(waits), course_id)
            rows.wait_at_most(book.db, seconds)
            self.released = rows.released_set(book.db, problem_set)
            self.entered = rows.entered(book.db, self.released)
            self.manual_marks = rows.manual_marks(book.db, self.released)
            self.lateness = rows.lateness(book.db, self.released)
            book.db.rollback()
        except BaseException:
            if hasattr(book, "db"):
                book.close()
            raise
        self._book = book

    @property
    def session(self) -> Session:
        return self._book.db

    def close(self) -> None:
        self._book.close()


def _waits(kind: str, seconds: float) -> dict[str, str]:
    """The option by which a database's driver waits: for whoever holds a file, for a server to answer."""
    if kind == "postgresql":
        return {"connect_timeout": f"{max(2.0, seconds):.0f}"}
    return {"timeout": str(seconds)} if kind == "sqlite" else {}
