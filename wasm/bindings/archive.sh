#!/bin/sh
# archive.sh DIRECTORY OUTDIR writes OUTDIR/NAME.tar.gz, where NAME is that of the directory,
# and prints its path. The archive is the same to the byte for the same files. Its times are
# SOURCE_DATE_EPOCH, or 0. Every package.sh that makes such an archive calls it.
set -eu
name=$(basename "$1")
tar --sort=name --format=ustar --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner \
	--mode=u=rwX,go=rX -C "$(dirname "$1")" -cf "$1.tar" "$name"
gzip -9 -n <"$1.tar" >"$2/$name.tar.gz"
rm "$1.tar"
echo "$2/$name.tar.gz"
