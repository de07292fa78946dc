#!/bin/sh
# build.sh builds, runs, tests and measures addrspec.
#
#   ./build.sh         build dist/addrspec, the modules (dist/*.wasm) and dist/edge/
#   ./build.sh run     build, start on 127.0.0.1:8080 with SQLite under data/
#   ./build.sh test    everything that CI runs
#   ./build.sh bench   the performance table
#   ./build.sh lists   pack lists/ and rewrite near.txt until neither changes
#   ./build.sh edge --origin URL --listen HOST:PORT --secret S
#                      build, run the edge worker in workerd on this machine
#   ./build.sh soak    hurt real processes for some minutes and prove what holds
#   ./build.sh eval    the quality table (reads ../shared/eval or ADDRSPEC_EVAL); -v lists every wrong row
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

# The module goes where the Go program embeds it from.
build_module() {
	go run ./wasm/build -o dist
	cp dist/addrspec.wasm wasm/module/addrspec.wasm
}

build_origin() {
	build_module
	CGO_ENABLED=0 go build $flags -ldflags="-s -w -buildid= -X main.release=$release" -o dist/addrspec ./origin
	echo "dist/addrspec is ready: try dist/addrspec --help"
}

# What the worker is built and tested with, where it is not there yet.
edge_tools() {
	command -v npm >/dev/null || return 1
	[ edge/node_modules/.package-lock.json -nt edge/package-lock.json ] || npm ci --prefix edge
}

# What it is tested on beside workerd.
edge_runtimes() {
	[ edge/runtimes/node_modules/.package-lock.json -nt edge/runtimes/package-lock.json ] || npm ci --prefix edge/runtimes
}

build_edge() {
	edge_tools &&
		node edge/build.mjs workers dist/addrspec.wasm dist/edge &&
		node edge/build.mjs demo dist/addrspec.wasm dist/edge/demo.html
}

# jco makes a component of the module; fetched by npm the first time (105 MB).
component_tools() {
	command -v npm >/dev/null || return 1
	[ -d wasm/wit/node_modules ] || npm install --no-save --silent --prefix wasm/wit
}

build_component() {
	component_tools && go run ./wasm/build -o dist -component
}

build() {
	build_origin
	build_component || echo 'skipped: dist/addrspec.component.wasm (no Node, or npm install failed)'
	build_edge || echo 'skipped: dist/edge (no Node, or npm ci failed)'
}

run() {
	build_origin
	mkdir -p data
	exec dist/addrspec serve --demo --log text --database sqlite:data/addrspec.db "$@"
}

# Only the worker gets the secret: npm runs the scripts of packages.
run_edge() {
	listen=127.0.0.1:8787 origin=${ADDRSPEC_ORIGIN:-} secret=${ADDRSPEC_EDGE_SECRET:-}
	unset ADDRSPEC_EDGE_SECRET
	while [ $# -gt 1 ]; do
		case $1 in
		--origin) origin=$2 ;;
		--listen) listen=$2 ;;
		--secret) secret=$2 ;;
		*) break ;;
		esac
		shift 2
	done
	[ $# -eq 0 ] && [ -n "$origin" ] && [ -n "$secret" ] || {
		echo 'usage: ./build.sh edge --origin URL --listen HOST:PORT --secret S' >&2
		exit 2
	}
	build_module
	build_edge
	workerd=$(cd edge && node -p 'require("workerd").default')
	echo "addrspec edge on http://$listen"
	export ADDRSPEC_ORIGIN="$origin" ADDRSPEC_EDGE_SECRET="$secret"
	exec "$workerd" serve dist/edge/workerd.capnp --socket-addr "http=$listen"
}

# The engines that run the module in other languages, kept in dist/bindings.
host_tools() {
	export ADDRSPEC_BINDINGS="$PWD/dist/bindings" ADDRSPEC_PYTHON="$PWD/dist/bindings/python/bin/python3"
	mkdir -p dist/bindings
	[ -x "$ADDRSPEC_PYTHON" ] || python3 -m venv dist/bindings/python
	"$ADDRSPEC_PYTHON" -c 'import wasmtime' 2>/dev/null || "$ADDRSPEC_PYTHON" -m pip install --quiet --disable-pip-version-check wasmtime
	component_tools
}

# go_test tests packages. Tests with real databases and clocks fail when the
# host of a virtual machine takes its processors away for seconds, so packages
# that failed while that happened, and only then, get a second run.
go_test() {
	stolen=$(stolen_time)
	began=$(date +%s)
	go_test_once "$@" && return
	[ $(($(stolen_time) - stolen)) -gt $((5 * ($(date +%s) - began))) ] || return 1
	failed=$(sed -n 's/^FAIL[[:space:]]\{1,\}\([^[:space:]]*\/[^[:space:]]*\).*/\1/p' dist/test.log)
	echo "tested again, since the machine's host took over 2 % of its time away:" $failed
	flags=
	[ "$1" != -race ] || flags=-race
	go_test_once $flags $failed
}

# stolen_time is in hundredths of a second, of all processors.
stolen_time() {
	awk '/^cpu / { print $9 }' /proc/stat 2>/dev/null || echo 0
}

# go_test_once names what was skipped besides what failed.
go_test_once() {
	log=dist/test.log
	# The first build of Rust's engine can take longer than go test's ten minutes.
	{ go test -timeout 30m -v "$@" 2>&1 || echo "go test failed"; } | tee "$log" |
		awk '/^=== (RUN|CONT|NAME)/ { test = $3 }
			/^ +[a-z_0-9]+\.go:[0-9]+: / { sub(/^[^:]*:[0-9]+: /, ""); said[test] = $0 }
			/--- SKIP:/ { print "skipped: " $3 ": " said[$3] }
			/^(ok|FAIL|panic:|go test failed|#)/ { print }'
	grep -q '^go test failed' "$log" || return 0
	grep -vE '^ *(=== |--- PASS|--- SKIP)' "$log" | grep -v '^ok'
	return 1
}

# The databases of the tests are in memory where there is room: on a shared
# machine a flush of the disk can hang for more than a second, which to a test
# looks like the outage that another one makes on purpose.
databases_in_memory() {
	free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
	[ "${free:-0}" -gt 2097152 ] && dir=$(mktemp -d /dev/shm/addrspec.XXXXXX) || return 0
	trap 'rm -rf "$dir"' EXIT
	trap 'exit 1' HUP INT TERM
	chmod 755 "$dir" # PostgreSQL does not run as root
	export GOTMPDIR="${TMPDIR:-/tmp}" TMPDIR="$dir"
}

# What is concurrent runs under the race detector, which wants a C compiler.
check() {
	mkdir -p dist
	go vet ./...
	unformatted=$(gofmt -l $(git ls-files '*.go'))
	[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted" >&2; exit 1; }
	race=-race
	CGO_ENABLED=1 go build -race -o /dev/null ./wasm/host 2>/dev/null || { race=; echo 'skipped: the race detector (no C compiler)'; }
	{ edge_tools && edge_runtimes; } || echo 'skipped: parts of the edge worker (no Node, or npm ci failed)'
	host_tools || echo 'skipped: some hosts of the module (see above)'
	go_test ./core/... ./lists/... ./wasm/... ./edge
	databases_in_memory # not for the edge: Deno's permissions leave /dev out
	go_test $race ./origin/... ./wasm/host/...
}

bench() {
	go test -run '^$' -bench . -benchmem ./core/... ./lists/... ./wasm/... ./origin/... ./edge
}

# Without arguments every trial runs in full; see origin/soak/main.go.
soak() {
	build_origin
	go run ./origin/soak -binary dist/addrspec "$@"
}

# near.txt is computed from the blob that it is packed into, so pack, near and
# pack repeat until a round changes nothing. The programs print what changed.
lists() {
	for tool in go npm; do
		command -v $tool >/dev/null || {
			echo "build.sh lists: $tool is missing: Go runs the programs, npm fetches the sources of near.txt" >&2
			exit 1
		}
	done
	for round in 1 2 3; do
		before=$(cat lists/near.txt lists/lists.blob | cksum)
		go run ./lists/pack
		go run ./core/typo/near
		go run ./lists/pack
		after=$(cat lists/near.txt lists/lists.blob | cksum)
		[ "$before" != "$after" ] || { echo "settled: round $round changed nothing"; return; }
	done
	echo 'build.sh lists: not settled after 3 rounds: see git diff lists' >&2
	exit 1
}

evaluate() {
	go run ./core/eval "$@"
}

command=${1:-build}
[ $# -eq 0 ] || shift
case $command in
build) build ;;
run) run "$@" ;;
edge) run_edge "$@" ;;
test) check ;;
bench) bench ;;
soak) soak "$@" ;;
lists) lists ;;
eval) evaluate "$@" ;;
-h | --help | help) usage ;;
*)
	echo "build.sh: there is no sub-command '$command'" >&2
	usage >&2
	exit 2
	;;
esac
