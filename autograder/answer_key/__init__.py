"""The answers that are due: the reference's and each misconception's to visible and hidden input draws.

`keys.AnswerKey` is the value that judges get; `precomputed.answer_key` gives that of a course, from its file or
computed by `live`; `hidden` and `misconceptions` are the banks.
"""
