#!/bin/sh
# package.sh OUTDIR makes the source archive of the extension, and prints its path.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
exec ../c/extension.sh postgresql "$out" Makefile README.md CHANGELOG.md addrspec.control addrspec--*.sql addrspec.c sql expected
