#!/bin/sh
# package.sh OUTDIR builds the gems, and prints their paths: one with the C sources of
# libaddrspec, and for each Linux platform one that is compiled for Ruby 3.1. GEMS names those
# to build, PREFIX_x86_64_linux and PREFIX_aarch64_linux where libaddrspec is installed, so that
# it need not be compiled, and HEADERS_aarch64_linux a directory with Ruby's headers for arm64.
# The same SOURCE_DATE_EPOCH gives the same bytes.
set -eu
command -v gem >/dev/null || {
	echo 'skipped: ruby: install ruby'
	exit 3
}
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-315619200}" TZ=UTC
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skipped=

# The sources of libaddrspec, from its own archive.
sources() {
	[ ! -d "$work/c" ] || return 0
	mkdir "$work/c"
	../c/package.sh "$work" >"$work/log" || { status=$?; tail -n 1 "$work/log"; exit $status; }
	tar -xzf "$work"/addrspec-c-*.tar.gz -C "$work/c" --strip-components=1
}

# stage copies what every gem has to a directory.
stage() {
	mkdir -p "$1"
	cp -R lib addrspec.gemspec README.md CHANGELOG.md ../../../LICENSE "$1"
	rm -f "$1/lib/addrspec/addrspec.so"
}

# pack builds the gem in a directory.
pack() {
	chmod -R u=rwX,go=rX "$1"
	(cd "$1" && gem build --strict addrspec.gemspec --output="$work/built.gem" >&2)
	mv "$work/built.gem" "$out/$2"
	echo "$out/$2"
}

# compiled PLATFORM COMPILER HEADERS PREFIX builds a gem with the extension. Its symbols of Ruby
# come from the process that loads it, whose Ruby may have no library.
compiled() {
	if ! command -v "$2" >/dev/null || [ ! -f "$3/ruby/config.h" ]; then
		skipped="$skipped $1 (needs $2 and headers of Ruby 3.1 for it)"
		return
	fi
	prefix=$4
	if [ -z "$prefix" ]; then
		sources
		prefix=$work/$1.prefix
		make -s -C "$work/c" CC="$2" BUILD="$work/$1.build" "$work/$1.build/libaddrspec.a"
		mkdir -p "$prefix/lib"
		cp -R "$work/c/include" "$prefix"
		cp "$work/$1.build/libaddrspec.a" "$prefix/lib"
	fi
	stage "$work/$1"
	if [ -d "$work/c" ]; then
		mkdir "$work/$1/module"
		cp "$work/c/module/NOTICE" "$work/$1/module"
	fi
	"$2" -std=gnu11 -O2 -fPIC -fvisibility=hidden -shared -s -DNDEBUG -I"$3" -I"$headers" -I"$prefix/include" ext/addrspec/binding.c \
		"$prefix/lib/libaddrspec.a" -lm -Wl,--exclude-libs,ALL -o "$work/$1/lib/addrspec/addrspec.so"
	ADDRSPEC_PLATFORM=$1 pack "$work/$1" "addrspec-$version-$1.gem"
}

version=$(ruby -I lib -r addrspec/version -e 'print Addrspec::VERSION')
headers=$(ruby -r rbconfig -e 'print RbConfig::CONFIG["rubyhdrdir"]')
for gem in ${GEMS:-ruby x86_64-linux aarch64-linux}; do
	case $gem in
	ruby)
		sources
		stage "$work/ruby"
		mkdir -p "$work/ruby/ext/addrspec/libaddrspec"
		cp ext/addrspec/binding.c ext/addrspec/extconf.rb "$work/ruby/ext/addrspec"
		cp -R "$work/c/include" "$work/c/src" "$work/c/module" "$work/ruby/ext/addrspec/libaddrspec"
		pack "$work/ruby" "addrspec-$version.gem"
		;;
	x86_64-linux) compiled $gem x86_64-linux-gnu-gcc "${HEADERS_x86_64_linux:-/usr/include/x86_64-linux-gnu/ruby-3.1.0}" "${PREFIX_x86_64_linux:-}" ;;
	aarch64-linux) compiled $gem aarch64-linux-gnu-gcc "${HEADERS_aarch64_linux:-/usr/include/aarch64-linux-gnu/ruby-3.1.0}" "${PREFIX_aarch64_linux:-}" ;;
	esac
done
[ -z "$skipped" ] || { echo "skipped: the gem for$skipped"; exit 3; }
