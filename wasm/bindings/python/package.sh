#!/bin/sh
# package.sh OUTDIR builds the wheel from this directory and dist/addrspec.wasm, and
# prints its path. ADDRSPEC_MODULE names another module. The same SOURCE_DATE_EPOCH
# gives the same bytes.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
python=${ADDRSPEC_PYTHON:-python3}
"$python" -c 'import hatchling' 2>/dev/null || {
	echo "skipped: the Python wheel: pip install hatchling, or name a Python that has it in ADDRSPEC_PYTHON"
	exit 3
}
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cp -R addrspec pyproject.toml README.md CHANGELOG.md ../../../LICENSE "$temp"
cp "${ADDRSPEC_MODULE:-../../../dist/addrspec.wasm}" "$temp/addrspec/addrspec.wasm"
chmod 644 "$temp/addrspec/addrspec.wasm"
find "$temp" -name __pycache__ -prune -exec rm -rf {} +
cd "$temp"
"$python" -m hatchling build -t wheel -d "$temp/dist" >&2
for wheel in "$temp"/dist/*.whl; do
	mv "$wheel" "$out"
	echo "$out/${wheel##*/}"
done
