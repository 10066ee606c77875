"""What a course's nbgrader_config.py imports; course folders made by earlier versions name this module."""

from .gradebook.preprocessor import configure

__all__ = ["configure"]
