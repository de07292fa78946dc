#!/bin/sh
# package.sh OUTDIR [PLATFORM...] makes the archives of the C library for platforms, all of
# them if none is named: linux-x86_64, linux-arm64 and windows-x86_64. Each has the header,
# the static and the shared library, and what pkg-config and CMake read. Archives are the same
# to the byte for the same sources, module and compiler. It prints their paths, and names at
# its end the platforms whose compiler is missing.
set -eu

mkdir -p "$1"
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
shift
[ $# -gt 0 ] || set -- linux-x86_64 linux-arm64 windows-x86_64
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archive=$("$here/../package.sh" "$work") || { code=$?; echo "$archive"; exit $code; }
tar -xzf "$archive" -C "$work"
name=$(basename "$archive" .tar.gz)

compiler() {
	case $1 in
	linux-x86_64) echo x86_64-linux-gnu ;;
	linux-arm64) echo aarch64-linux-gnu ;;
	windows-x86_64) echo x86_64-w64-mingw32 ;;
	*) echo "package.sh: there is no platform $1" >&2 && exit 2 ;;
	esac
}

# compile PLATFORM TOOLS installs the library into a directory named like the archive.
compile() {
	stage=$work/$name-$1
	make --silent -C "$work/$name" install BUILD="build-$1" CC="$2-gcc" AR="$2-ar" CFLAGS=-O1 \
		PREFIX= PC_PREFIX='$${pcfiledir}/../..' DESTDIR="$stage" >&2
	for shared in "$stage"/lib/*.so.0 "$stage"/lib/*.dll; do
		[ ! -f "$shared" ] || "$2-strip" --strip-unneeded "$shared"
	done
	mkdir "$stage/module"
	cp "$work/$name/README.md" "$work/$name/CHANGELOG.md" "$work/$name/LICENSE" "$stage"
	cp "$work/$name/module/NOTICE" "$stage/module"
	chmod -R u=rwX,go=rX "$stage"
}

# pack PLATFORM writes the archive of that directory: a zip file for Windows.
pack() {
	cd "$work"
	find "$name-$1" -exec touch -h -d "@${SOURCE_DATE_EPOCH:-315532800}" {} +
	case $1 in
	windows-*) find "$name-$1" | LC_ALL=C sort | TZ=UTC zip -q -X -9 -@ "$out/$name-$1.zip" && echo "$out/$name-$1.zip" ;;
	*) "$here/../../archive.sh" "$work/$name-$1" "$out" ;;
	esac
}

missing=
for platform; do
	tools=$(compiler "$platform")
	case $platform in windows-*) needs="$tools-gcc zip" ;; *) needs=$tools-gcc ;; esac
	for tool in $needs; do
		command -v "$tool" >/dev/null || { missing="$missing; $platform: install $tool"; continue 2; }
	done
	compile "$platform" "$tools"
	pack "$platform"
done
[ -z "$missing" ] || { echo "skipped: c for ${missing#; }"; exit 3; }
