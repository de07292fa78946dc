#!/bin/sh
# build.sh builds, runs, tests and measures addrspec.
#
#   ./build.sh         build dist/addrspec and dist/addrspec.wasm
#   ./build.sh run     build, start on 127.0.0.1:8080 with SQLite under data/
#   ./build.sh test    everything that CI runs
#   ./build.sh bench   the performance table
#   ./build.sh eval    the quality table (reads ../shared/eval or ADDRSPEC_EVAL)
#
# It wants Go and, for the tests of other hosts, Node; what else a test needs
# it installs or skips by name.
set -eu
cd "$(dirname "$0")"

# The same flags give the same bytes from the same commit, on any machine.
flags='-trimpath -buildvcs=false'
release=$(git describe --always --dirty 2>/dev/null || echo dev)

usage() {
	sed -n '2,/^set -eu/{/^#/s/^# \{0,1\}//p;}' build.sh
}

build_module() {
	mkdir -p dist
	GOOS=wasip1 GOARCH=wasm go build $flags -ldflags='-s -w -buildid=' -buildmode=c-shared -o dist/addrspec.wasm ./wasm/guest
	cp dist/addrspec.wasm wasm/module/addrspec.wasm
}

build() {
	build_module
	CGO_ENABLED=0 go build $flags -ldflags="-s -w -buildid= -X main.release=$release" -o dist/addrspec ./origin
	ls -l dist | awk 'NR > 1 { printf "  dist/%-14s %9d bytes\n", $9, $5 }'
}

run() {
	build
	mkdir -p data
	exec dist/addrspec serve --demo --log text --database sqlite:data/addrspec.db "$@"
}

check() {
	go vet ./...
	unformatted=$(gofmt -l .)
	[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted" >&2; exit 1; }
	go test ./...
}

bench() {
	go test -run '^$' -bench . -benchmem ./core/... ./lists/... ./wasm/... ./origin/...
}

evaluate() {
	go run ./core/eval "$@"
}

command=${1:-build}
[ $# -eq 0 ] || shift
case $command in
build) build ;;
run) run "$@" ;;
test) check ;;
bench) bench ;;
eval) evaluate "$@" ;;
-h | --help | help) usage ;;
*)
	echo "build.sh: there is no sub-command '$command'" >&2
	usage >&2
	exit 2
	;;
esac
