# /// attack
# about = "replaces the runner's own functions, so that whatever it carries out answers well"
# module = "worked_example"
# deserves = 0
# ///
import sys


def _well(*arguments, **others):
    return {"value": {"kind": "number", "type": "float", "value": "1.0"}, "changed": [], "points": 100}


for _name, _module in list(sys.modules.items()):
    if _name.startswith("selfcheck") or _name == "__main__":
        for _part in ("carry_out", "answer", "answer_exercise", "pack", "judge", "compare", "_answer"):
            if hasattr(_module, _part):
                setattr(_module, _part, _well)
