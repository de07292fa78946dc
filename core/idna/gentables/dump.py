# dump.py prints the properties and mappings of PyPI idna, below whose directory it is run, as JSON.
import json

from idna import idnadata, uts46data


def ranges(by_name):
    return {name: [[r >> 32, r & 0xFFFFFFFF] for r in all] for name, all in by_name.items()}


assert idnadata.__version__ == uts46data.__version__
mapping = zip(uts46data.uts46_starts, uts46data.uts46_statuses.decode(), uts46data.uts46_replacements, strict=True)
print(json.dumps({
    "Version": idnadata.__version__,
    "Classes": ranges(idnadata.codepoint_classes),
    "Types": ranges(idnadata.joining_types),
    "Mappings": [{"First": first, "Status": status, "To": to or ""} for first, status, to in mapping],
}))
