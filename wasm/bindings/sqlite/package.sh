#!/bin/sh
# package.sh OUTDIR makes the source archive of the extension, with the C library inside, and
# prints its path. The archive is the same to the byte for the same sources and module. Its
# times are SOURCE_DATE_EPOCH, or 0.
set -eu

mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
version=$(sed -n 's/^#define ADDRSPEC_VERSION "\(.*\)"/\1/p' ../c/include/addrspec.h)
name=addrspec-sqlite-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# It skips this package, too, if a tool is missing.
../c/package.sh "$work" >"$work/made" || { code=$?; sed 's/: c:/: sqlite:/' "$work/made"; exit $code; }
mkdir "$work/$name"
tar -xzf "$work/addrspec-c-$version.tar.gz" -C "$work"
mv "$work/addrspec-c-$version" "$work/$name/libaddrspec"
cp -R Makefile README.md CHANGELOG.md addrspec.c examples ../../../LICENSE "$work/$name"

tar --sort=name --format=ustar --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner \
	--mode=u=rwX,go=rX -C "$work" -cf "$work/archive.tar" "$name"
gzip -9 -n <"$work/archive.tar" >"$out/$name.tar.gz"
echo "$out/$name.tar.gz"
