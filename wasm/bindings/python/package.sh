#!/bin/sh
# package.sh OUTDIR builds the wheels from this directory and dist/addrspec.wasm, and prints their
# paths: any, where wasmtime runs the module, and for each platform below one with the C library,
# which Zig compiles. WHEELS names those to build, ADDRSPEC_MODULE another module. The same
# SOURCE_DATE_EPOCH gives the same bytes.
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
python=${ADDRSPEC_PYTHON:-python3}
"$python" -c 'import hatchling' 2>/dev/null || {
	echo "skipped: the Python wheels: pip install hatchling, or name a Python that has it in ADDRSPEC_PYTHON"
	exit 3
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
skipped=

# stage copies what every wheel has to a directory.
stage() {
	mkdir "$1"
	cp -R addrspec hatch_build.py pyproject.toml README.md CHANGELOG.md ../../../LICENSE "$1"
	rm -f "$1"/addrspec/addrspec.wasm "$1"/addrspec/_native.*[!i]
	find "$1" -name __pycache__ -prune -exec rm -rf {} +
}

# pack TAG DIRECTORY builds the wheel in a directory.
pack() {
	chmod -R u=rwX,go=rX "$2"
	(cd "$2" && ADDRSPEC_TAG=$1 "$python" -m hatchling build -t wheel -d "$work/built" >&2)
	for wheel in "$work"/built/*.whl; do
		mv "$wheel" "$out"
		echo "$out/${wheel##*/}"
	done
}

any() {
	stage "$work/any"
	cp "${ADDRSPEC_MODULE:-../../../dist/addrspec.wasm}" "$work/any/addrspec/addrspec.wasm"
	pack '' "$work/any"
}

# sources has the C library, from its own archive, and headers of Python that fit every platform.
sources() {
	[ ! -d "$work/c" ] || return 0
	mkdir "$work/c"
	../c/package.sh "$work" >"$work/log" || { status=$?; tail -n 1 "$work/log"; exit $status; }
	tar -xzf "$work"/addrspec-c-*.tar.gz -C "$work/c" --strip-components=1
	cp -R ext "$work/c/ext"
	cp -R "$headers" "$work/c/python"
	cp ext/pyconfig.h "$work/c/python"
}

# python3_dll TARGET makes the import library of python3.dll, with every name that native.c may mean.
python3_dll() {
	{
		printf '%s\n' 'LIBRARY python3.dll' EXPORTS _Py_Dealloc _Py_NoneStruct _Py_TrueStruct _Py_FalseStruct PyEval_SaveThread PyEval_RestoreThread
		printf '_%s_SizeT\n' PyArg_ParseTuple PyArg_ParseTupleAndKeywords PyObject_CallMethod
		grep -oh 'Py[A-Z][A-Za-z]*_[A-Za-z0-9]*' "$work/c/ext/native.c" | LC_ALL=C sort -u
	} >"$work/c/python3.def"
	(cd "$work/c" && "$python" -m ziglang dlltool -m i386:x86-64 -d python3.def -l libpython3.a)
}

# native TARGET FILE TAG builds the wheel for a target of Zig, which loads the extension as FILE.
# -ffp-contract: a product and a sum stay two operations, so that the score has the same bytes everywhere.
native() {
	if ! "$python" -c 'import ziglang' 2>/dev/null || [ ! -f "$headers/Python.h" ]; then
		skipped="$skipped $1"
		return
	fi
	sources
	link=
	case $1 in *windows*) python3_dll && link='-L. -lpython3' ;; esac
	stage "$work/$1"
	(cd "$work/c" && "$python" -m ziglang cc -target "$1" -std=gnu11 -O1 -g0 -shared -s -fPIC -fvisibility=hidden -ffp-contract=off \
		-fno-sanitize=all -w -DNDEBUG -Iinclude -Isrc -Imodule -Ipython ext/*.c src/*.c module/module.c $link -lm \
		-o "$work/$1/addrspec/$2") >&2
	rm -f "$work/$1"/addrspec/*.pdb "$work/$1"/addrspec/*.lib
	mkdir "$work/$1/module"
	cp "$work/c/module/NOTICE" "$work/$1/module"
	# The wheel names wasmtime for the platforms that have no such wheel: uv and Poetry take what one
	# wheel needs for what all need.
	sed -i "s|^license-files = .*|license-files = [\"LICENSE\", \"module/NOTICE\"]|; s|^dependencies = \[\"\(wasmtime.*\)\"\]|dependencies = ['\1; $elsewhere']|" \
		"$work/$1/pyproject.toml"
	pack "cp310-abi3-$3" "$work/$1"
}
elsewhere='python_version < "3.10" or platform_python_implementation != "CPython" or (sys_platform != "linux" and sys_platform != "win32") or (platform_machine != "x86_64" and platform_machine != "aarch64" and platform_machine != "AMD64")'

for wheel in ${WHEELS:-any linux-x86_64 linux-aarch64 musllinux-x86_64 musllinux-aarch64 windows-x86_64}; do
	machine=${wheel#*-}
	case $wheel in
	any) any ;;
	linux-*) native "$machine-linux-gnu.2.17" _native.abi3.so "manylinux_2_17_$machine.manylinux2014_$machine" ;;
	musllinux-*) native "$machine-linux-musl" _native.abi3.so "musllinux_1_2_$machine" ;;
	windows-x86_64) native x86_64-windows-gnu _native.pyd win_amd64 ;;
	*) echo "package.sh: there is no wheel $wheel" >&2 && exit 2 ;;
	esac
done
[ -z "$skipped" ] || { echo "skipped: the Python wheels for$skipped: pip install ziglang, and have the headers of Python"; exit 3; }
