#!/bin/sh
# extension.sh NAME OUTDIR FILE... makes the source archive of an extension that has the C
# library inside, in libaddrspec/, and prints its path. The files are of the current
# directory. It exits with 3 and says why if a tool for the library's archive is missing.
set -eu

extension=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
library=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/^#define ADDRSPEC_VERSION "\(.*\)"/\1/p' "$library/include/addrspec.h")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$library/package.sh" "$work" >"$work/made" || { code=$?; sed "s/: c:/: $extension:/" "$work/made"; exit $code; }
name=addrspec-$extension-$version
mkdir "$work/$name"
tar -xzf "$work/addrspec-c-$version.tar.gz" -C "$work"
mv "$work/addrspec-c-$version" "$work/$name/libaddrspec"
cp -R "$@" "$library/../../../LICENSE" "$work/$name"
"$library/../archive.sh" "$work/$name" "$out"
