"""Checks rows with one package: serve.py NAME.

adapters/NAME.py has a function per question. Rows come as JSON lines
{"question", "value"}; each gets a line with the result. An exception is no result.
"""

import importlib
import json
import os
import sys

rows, results = sys.stdin, sys.stdout
sys.stdout = sys.stderr  # packages may print
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "adapters"))
adapter = importlib.import_module("with_" + sys.argv[1].replace("-", "_"))

for line in rows:
    row = json.loads(line)
    try:
        result = getattr(adapter, row["question"])(row["value"])
    except Exception as error:
        result = {"none": f"{type(error).__name__}: {error}"}
    print(json.dumps(result), file=results, flush=True)
