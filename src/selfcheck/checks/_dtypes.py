"""The floating dtypes that an exercise in torch must keep."""

DTYPES = ("float16", "bfloat16", "float32", "float64")
