#!/bin/sh
# package.sh OUTDIR builds the crate from this directory and dist/addrspec.wasm, and prints
# its path. The crate is the same to the byte for the same sources and module.
set -eu

command -v cargo >/dev/null || {
	echo 'skipped: rustc: install Rust 1.86 or newer (rustup.rs)'
	exit 3
}

mkdir -p "$1"
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
module=${ADDRSPEC_MODULE:-$here/../../../dist/addrspec.wasm}
[ -f "$module" ] || { echo "package.sh: $module is missing: run ./build.sh" >&2; exit 1; }

# cargo packages a directory without a history: it would record the commit otherwise.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here/Cargo.toml" "$here/Cargo.lock" "$here/README.md" "$here/CHANGELOG.md" "$here/src" "$here/examples" "$here/tests" "$work"
cp "$here/../../../LICENSE" "$work"
cp "$module" "$work/src/addrspec.wasm"
find "$work" -type f -exec chmod 644 {} +

# Compiling it is the tests' work.
package() { cargo package --manifest-path "$work/Cargo.toml" --target-dir "$work/target" --no-verify --locked --quiet "$@"; }
package --offline 2>"$work/log" || package 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
for crate in "$work"/target/package/*.crate; do
	cp "$crate" "$out"
	echo "$out/${crate##*/}"
done
