#!/bin/sh
# package.sh OUTDIR builds the archive of the extension and its Composer package from this
# directory, and prints its path. It has no module: the extension links libaddrspec. Its times
# are SOURCE_DATE_EPOCH, or 0, so that the same sources give the same bytes.
set -eu
tar --version 2>/dev/null | grep -q GNU || {
	echo 'skipped: php: install GNU tar'
	exit 3
}
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
name=addrspec-php-$(sed -n 's/^ *"version": "\(.*\)",/\1/p' composer.json)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
cp -R README.md CHANGELOG.md composer.json ext src examples ../../../LICENSE "$work/$name"
../archive.sh "$work/$name" "$out"
