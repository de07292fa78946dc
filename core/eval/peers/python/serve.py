"""Answers questions about rows with one package: serve.py NAME.

adapters/NAME.py has a function per question. Rows come as JSON lines
{"question", "value"}; each gets a line of the answer. An exception is no answer.
"""

import importlib
import json
import os
import sys

rows, answers = sys.stdin, sys.stdout
sys.stdout = sys.stderr  # packages may print
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "adapters"))
adapter = importlib.import_module("with_" + sys.argv[1].replace("-", "_"))

for line in rows:
    row = json.loads(line)
    try:
        answer = getattr(adapter, row["question"])(row["value"])
    except Exception as error:
        answer = {"none": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), file=answers, flush=True)
