#!/bin/sh
# package.sh OUTDIR makes the source archive of the C library: this directory, and the C
# that wasm2c makes of dist/addrspec.wasm. It prints the archive's path. The archive is the
# same to the byte for the same sources and module. Its times are SOURCE_DATE_EPOCH, or 0.
set -eu

# The C of wasm2c calls a runtime, src/wasm-rt.h, that differs between its versions.
wabt=1.0.32

skip() {
	echo "skipped: c: install $1"
	exit 3
}
for tool in tar gzip sha256sum; do
	command -v $tool >/dev/null || skip $tool
done
tar --version 2>/dev/null | grep -q GNU || skip 'GNU tar'
[ "$(wasm2c --version 2>/dev/null)" = "$wabt" ] || skip "wasm2c $wabt: the package wabt of Debian 12, or github.com/WebAssembly/wabt"

mkdir -p "$1"
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
module=${ADDRSPEC_MODULE:-$here/../../../dist/addrspec.wasm}
[ -f "$module" ] || { echo "package.sh: $module is missing: run ./build.sh" >&2; exit 1; }

version=$(sed -n 's/^#define ADDRSPEC_VERSION "\(.*\)"/\1/p' "$here/include/addrspec.h")
name=addrspec-c-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name/module"
cd "$here"
cp -R Makefile README.md CHANGELOG.md addrspec.pc.in cmake examples include src tests "$work/$name"
cp ../../../LICENSE "$work/$name"
wasm2c "$module" -n addrspec -o "$work/$name/module/module.c"
# It forces each load, so that a guard page would catch it. Here comparisons do, and a load
# whose result is not used can go. Nothing in it calls alloca, whose header MinGW lacks.
sed -i 's/^#define wasm_asm __asm__$/#define wasm_asm(X)/; /^#include <alloca.h>$/d' "$work/$name/module/module.c"
cat >"$work/$name/module/NOTICE" <<EOF
module.c and module.h are addrspec.wasm as C. Its SHA-256 is
$(sha256sum <"$module" | cut -d' ' -f1)

They were made by wasm2c $wabt, and begin with macros of it: WABT, the WebAssembly Binary
Toolkit, copyright WebAssembly Community Group participants, Apache License 2.0, which is
the licence of addrspec, too. The module has parts of Go's runtime and standard library,
copyright the Go Authors, BSD 3-Clause License.
EOF

../archive.sh "$work/$name" "$out"
