#!/bin/sh
# package.sh OUTDIR builds the source archive of the C library from this directory and
# dist/addrspec.wasm, and prints its path. The archive is the same to the byte for the same
# sources and module. Its times are SOURCE_DATE_EPOCH, or 0.
set -eu

for tool in tar gzip; do
	command -v $tool >/dev/null || {
		echo "skipped: c: install $tool"
		exit 3
	}
done
tar --version 2>/dev/null | grep -q GNU || {
	echo 'skipped: c: install GNU tar'
	exit 3
}

mkdir -p "$1"
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
module=${ADDRSPEC_MODULE:-$here/../../../dist/addrspec.wasm}
[ -f "$module" ] || { echo "package.sh: $module is missing: run ./build.sh" >&2; exit 1; }

version=$(sed -n 's/^#define ADDRSPEC_VERSION "\(.*\)"/\1/p' "$here/include/addrspec.h")
name=addrspec-c-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
cd "$here"
cp -R Makefile README.md CHANGELOG.md addrspec.pc.in cmake examples include src tests "$work/$name"
cp ../../../LICENSE "$work/$name"
cp "$module" "$work/$name/addrspec.wasm"

tar --sort=name --format=ustar --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner \
	--mode=u=rwX,go=rX -C "$work" -cf "$work/archive.tar" "$name"
gzip -9 -n <"$work/archive.tar" >"$out/$name.tar.gz"
echo "$out/$name.tar.gz"
