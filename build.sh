#!/bin/sh
# build.sh builds, runs, tests and measures addrspec.
#
#   ./build.sh         build dist/addrspec with its man page (dist/addrspec.1) and
#                      dist/completion/, the modules (dist/*.wasm) and dist/edge/
#   ./build.sh run     build, start on 127.0.0.1:8080 with SQLite under data/
#   ./build.sh test    everything that CI runs, in minutes
#   ./build.sh test all
#                      besides: 50,000 new inputs for every fuzz target, a million
#                      checks in one instance, the lists against npm, thousands of
#                      random requests by openapi.json, all soak trials; half an hour
#   ./build.sh bench [--quick] [--only PATTERN] [--json FILE] [--against FILE]
#                      the performance table: each figure beside a peer or a limit in
#                      the same run; --help lists the flags
#   ./build.sh bench go
#                      the Go benchmarks of all packages, for work on one of them
#   ./build.sh release [--sign SECRETKEYFILE] [--dirty]
#                      all packages, programs and modules of a release, in dist/release/;
#                      wasm/release/README.md describes them
#   ./build.sh release --verify
#                      the same, built a second time in another folder, and compared
#   ./build.sh lists   pack lists/ and rewrite near.txt until neither changes
#   ./build.sh lists --latest --sign SECRETKEYFILE --feed DIR --expires 30d
#                      fetch the newest published lists first; sign the blob and write
#                      a feed that any web server can serve. Each flag is optional;
#                      --feed and --expires need --sign
#   ./build.sh edge --origin URL --listen HOST:PORT --secret S
#                      build, run the edge worker in workerd on this machine
#   ./build.sh screenshots
#                      pictures of every page of the dashboard in every state, in
#                      dist/screenshots
#   ./build.sh soak    kill real processes, fill disks, stop databases for some
#                      minutes, and report which guarantees were kept
#   ./build.sh eval    the quality table, on core/eval/data or ADDRSPEC_EVAL; -v lists every wrong row.
#                      Then, with npm and PyPI, what the lists caught before they knew it
#   ./build.sh eval --peers
#                      the same rows by other tools, from npm, PyPI and the Go proxy
#
# It needs Go and, for the edge worker, Node. What else a test needs it installs
# from the Go proxy, npm or PyPI, or the test is skipped by name. Steps of the
# tests write to dist/log.
set -eu
cd "$(dirname "$0")"

# The same flags give the same bytes from the same commit, on any machine.
flags='-trimpath -buildvcs=false'
# A build without the history, as in a container, is given its release.
release=${ADDRSPEC_RELEASE:-$(git describe --always --dirty 2>/dev/null || echo dev)}

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
	build_manual
	echo "dist/addrspec is ready: try dist/addrspec --help"
}

# The man page and the shells' completion, under the names that packages install.
build_manual() {
	mkdir -p dist/completion
	dist/addrspec man >dist/addrspec.1
	dist/addrspec completion bash >dist/completion/addrspec.bash
	dist/addrspec completion zsh >dist/completion/_addrspec
	dist/addrspec completion fish >dist/completion/addrspec.fish
}

# What the worker is built and tested with, where it is not there yet.
edge_tools() {
	command -v npm >/dev/null || { echo 'npm is not installed'; return 1; }
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

# The tests of the dashboard drive Chromium: Debian's package, installed where we
# may, or the one at ADDRSPEC_CHROMIUM.
browser_tools() {
	command -v npm >/dev/null || { echo 'npm is not installed'; return 1; }
	folder=origin/dashboard/browser
	[ $folder/node_modules/.package-lock.json -nt $folder/package-lock.json ] || npm ci --prefix $folder
	[ -z "${ADDRSPEC_CHROMIUM:-}" ] || return 0
	for name in chromium chromium-browser google-chrome; do
		command -v $name && return 0
	done
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo 'install Chromium, or give its path as ADDRSPEC_CHROMIUM'; return 1; }
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium
}

# The configurations of origin/deploy are tested with nginx, Caddy and Prometheus's
# promtool, of Debian, installed where we may.
proxy_tools() {
	missing=
	{ command -v nginx || [ -x /usr/sbin/nginx ]; } || missing="$missing nginx-light"
	command -v caddy || missing="$missing caddy"
	command -v promtool || missing="$missing prometheus"
	[ -n "$missing" ] || return 0
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "install$missing"; return 1; }
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $missing
}

# jco makes a component of the module; fetched by npm the first time (105 MB).
component_tools() {
	command -v npm >/dev/null || { echo 'npm is not installed'; return 1; }
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
	exec "$workerd" serve --binary dist/edge/workerd.bin --socket-addr "http=$listen"
}

# Where the tests' steps write what they print.
logs=dist/log

# quietly NAME COMMAND... runs one step with its output in a log, and prints one
# line: how long it took, or where to read why it failed.
quietly() {
	step=$1 log=$logs/$(echo "$1" | tr ' /' '--').log start=$(date +%s)
	shift
	"$@" >"$log" 2>&1 || {
		echo "✖  $step: see $log"
		return 1
	}
	echo "✓  $step ($(($(date +%s) - start))s)"
}

# tool NAME runs a tool of the tests, whose version .ci/tools/go.mod pins.
tool() { go tool -modfile=.ci/tools/go.mod "$@"; }

# bindings_cache prints the folder in which clones share the engines that run
# the module in other languages, and Python's packages. Compiling Rust's takes
# half a minute. The lock files are its key; folders of other keys go after a month.
bindings_cache() {
	key=$(cat wasm/bindings/*/Cargo.lock wasm/bindings/*/pom.xml wasm/bindings/python/tests/requirements.txt origin/contract/clients/requirements.txt | cksum | cut -d' ' -f1)
	folder=${XDG_CACHE_HOME:-${HOME:-$PWD/dist}/.cache}/addrspec
	mkdir -p "$folder/bindings-$key"
	touch "$folder/bindings-$key"
	find "$folder" -maxdepth 1 -name 'bindings-*' -mtime +30 -exec rm -rf {} +
	echo "$folder/bindings-$key"
}

# fetched TOOL FLAG reports whether the Go proxy has given us the tool, whose FLAG
# prints its version.
fetched() {
	tool "$1" "$2" >"$logs/$1-version.log" 2>&1 || {
		echo "   skipped: $1 could not be fetched: see $logs/$1-version.log"
		return 1
	}
}

# What lints openapi.json and makes clients of it, for origin/contract/clients.
client_tools() {
	go -C origin/contract/clients/go mod download && tool -n oapi-codegen
	[ -x "$ADDRSPEC_PYTHON" ] || python3 -m venv --without-pip "$ADDRSPEC_BINDINGS/python"
	"$ADDRSPEC_PYTHON" -c 'import mypy, openapi_python_client, schemathesis' ||
		python3 -m pip --python "$ADDRSPEC_PYTHON" install --disable-pip-version-check -r origin/contract/clients/requirements.txt
	command -v npm >/dev/null || { echo 'npm is not installed'; return 1; }
	[ origin/contract/clients/node_modules/.package-lock.json -nt origin/contract/clients/package-lock.json ] || npm ci --prefix origin/contract/clients
}

# Callers of sign-up hooks, for the tests of their examples.
hook_tools() {
	command -v npm >/dev/null || { echo 'npm is not installed'; return 1; }
	folder=origin/signuphook/examples
	[ $folder/node_modules/.package-lock.json -nt $folder/package-lock.json ] || npm ci --prefix $folder
}

# prepare fetches what the tests of other languages need. Tests skip by name
# what is missing afterwards. It takes time, but little of the processors'.
prepare() {
	for tools in edge_tools edge_runtimes browser_tools proxy_tools component_tools client_tools hook_tools; do
		quietly $tools $tools || echo '   tests that need them will be skipped'
	done
}

formatted() {
	unformatted=$(gofmt -l $(git ls-files '*.go'))
	[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted"; return 1; }
}

# Words of a private dialect that this project once had. An RFC's limit may be
# quoted in octets.
plain() {
	words='stands?|stood|tells?|told|octets?|whoever'
	! git grep -nwiE "$words" -- '*.go' '*.ts' '*.mjs' '*.md' '*.sql' '*.rs' '*.py' '*.java' '*.c' | grep -vE 'RFC|limit in octets|octet-stream'
}

# inspect reads the code without running it.
inspect() {
	quietly gofmt formatted || failed=1
	quietly 'plain words' plain || failed=1
	quietly 'go vet' go vet ./... || failed=1
	if fetched staticcheck -version; then quietly staticcheck tool staticcheck ./... || failed=1; fi
}

# go_test NAME FLAGS... tests packages and prints a line for each of them, and
# at the end what failed and what was skipped, with the reason. Several packages
# run at once, because many tests wait for a timeout or another process. inspect has
# run go vet.
go_test() {
	record=$1
	shift
	set -- -vet=off -p 4 -parallel 8 -timeout 20m "$@"
	fetched gotestsum --version || { go test "$@"; return; }
	tool gotestsum --format pkgname --format-hide-empty-pkg --jsonfile "$logs/$record.json" -- "$@"
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

# The race detector needs a C compiler. It leaves out the two packages that would take
# most of its time and use neither sync, atomic nor other packages' generic functions:
# SQLite, as translated from C, and the end of wazero's compiler. Of a flag given twice
# the later counts. Other packages must be in: the linker keeps one copy of a generic
# function, and sync.Map without the detector's marks is reported as a race.
race_detector() {
	set -- -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=github.com/tetratelabs/wazero/internal/engine/wazevo/backend/...=-race=false
	CGO_ENABLED=1 go build "$@" -o /dev/null ./wasm/host 2>/dev/null && echo "$@" || echo 'skipped: the race detector (no C compiler)' >&2
}

# The packages of the origin whose tests run under the race detector as a whole. The
# others start processes and browsers, whose time it multiplies by five; of those it
# runs what is concurrent in the test's own process. Where nothing is concurrent, as in
# what reads and writes files, the detector has nothing to find.
concurrent() { go list ./origin/... | grep -vE '/(origin|soak|dashboard|docs|browser)$' | grep -vE "$sequential"; }
sequential='/(check/input|archive/ndjson|complete|escape|result|securitytxt|contract/problems|webhook/target)$'
concurrent_tests='Slot|AtATime|OneSecret|DoNotBlock|AcrossReplicas|Concurrent|Order|Reload|HangUp|TakenOver|Listener|Stop|Stalled|Slow|Waiting|UnderWay|Outage|Idempotency|Disconnect|Batch|Half|Flood|Interrupted'

# Half of the origin's tests by their time. They run one after another and wait for
# processes, so the two halves run at once, each with a test binary of its own.
half='^Test[A-J]'

# The race detector gets what is concurrent, with -short, which leaves out what runs
# without it as well. The packages that take longest come first.
check() {
	mkdir -p $logs
	ADDRSPEC_MODULES=$PWD/dist
	ADDRSPEC_BINDINGS=$(bindings_cache)
	ADDRSPEC_PYTHON=$ADDRSPEC_BINDINGS/python/bin/python3
	export ADDRSPEC_MODULES ADDRSPEC_BINDINGS ADDRSPEC_PYTHON
	prepare &
	prepared=$!
	failed=
	quietly 'build the module' build_module || failed=1
	inspect
	wait $prepared
	go_test edge ./edge ./wasm/bindings & # the longest; the edge mostly waits for its workers
	edge=$!
	go_test test ./origin/contract/clients $(go list ./wasm/... | grep -v '/wasm/bindings$') ./core/... ./lists/... || failed=1
	databases_in_memory # the edge's are there without it: Deno's permissions leave /dev out
	go_test programs -short -run "$half" ./origin &
	programs=$!
	go_test more-programs -short -skip "$half" ./origin &
	more=$!
	go_test pages ./origin/dashboard ./origin/dashboard/docs &
	pages=$!
	go_test browser -short ./origin/dashboard/browser ./origin/soak $(go list ./origin/... | grep -E "$sequential") || failed=1
	for stream in $edge $programs $more $pages; do wait "$stream" || failed=1; done
	race=$(race_detector)
	go_test race-parts -short $race -run "$concurrent_tests" ./origin ./origin/dashboard &
	parts=$!
	go_test race -short $race ./origin/ledger $(concurrent) ./wasm/host/... || failed=1
	wait $parts || failed=1
	[ -z "$failed" ] || { echo "some tests failed: see above and $logs" >&2; return 1; }
}

# What takes too long for every change.
check_all() {
	export ADDRSPEC_ENGINES=1 ADDRSPEC_SOAK=1000000 ADDRSPEC_NPM=1 ADDRSPEC_SCHEMATHESIS=1 ADDRSPEC_PEERS=1
	check
	# What -short leaves out.
	go_test whole ./origin/ledger ./origin/check/...
	go_test whole-origin -run 'Copies|Killed|Completion|CheckResumes' ./origin
	fuzz_all
	soak
	whole_release
}

# The release is built twice, in two folders, and every file of it is looked into. An
# uncommitted change leaves that out, since a release is one of a commit.
whole_release() {
	[ -z "$(git status --porcelain)" ] || { echo 'skipped: the release (the tree differs from its commit)'; return; }
	(
		export TMPDIR="${GOTMPDIR:-${TMPDIR:-/tmp}}" # the second cache of compiled code is too large for the memory
		release --verify
	)
	ADDRSPEC_RELEASE=$PWD/dist/release go_test release -count 1 -run 'TestBuilt' ./wasm/release
}

# fuzz_all gives every fuzz target 50,000 new inputs. A number, because at the end
# of a time Go may report a failure that is none (go.dev/issue/75804). What it
# finds is kept under testdata, where the usual tests run it from then on. Making
# inputs shorter is limited, since Go tries for a minute with each that is long.
fuzz_all() {
	failed=
	for found in $(git grep -o '^func Fuzz[A-Za-z0-9]*' -- '*_test.go' | sed 's/func //'); do
		target=${found#*:}
		quietly "$target" go test "./$(dirname "${found%%:*}")" -run '^$' -fuzz "^$target\$" -fuzztime 50000x -fuzzminimizetime 10x || failed=1
	done
	[ -z "$failed" ]
}

# The table is of the programs as they are built for users.
bench() {
	build_origin >/dev/null
	[ "${1:-}" != go ] || { benchmarks; return; }
	go run ./origin/bench -binary dist/addrspec "$@"
}

benchmarks() {
	go test -run '^$' -bench . -benchmem ./core/... ./lists/... ./wasm/... ./origin/... ./edge
}

# Every page in every state, in light and dark and at the width of a phone.
screenshots() {
	build_module
	browser_tools
	ADDRSPEC_MODULES=$PWD/dist ADDRSPEC_SCREENSHOTS=$PWD/dist/screenshots \
		go test ./origin/dashboard/browser -count 1 -run '^TestScreenshots$'
	echo "$(find dist/screenshots -name '*.png' | wc -l) pictures are in dist/screenshots"
}

# Without arguments every trial runs in full; see origin/soak/main.go.
soak() {
	build_origin
	go run ./origin/soak -binary dist/addrspec "$@"
}

lists() {
	latest= key= feed=dist/feed expires=30d publish=
	while [ $# -gt 0 ]; do
		[ "$1" = --latest ] || [ $# -gt 1 ] || { echo "build.sh lists: $1 needs a value" >&2; exit 2; }
		case $1 in
		--latest) latest=-latest; shift; continue ;;
		--sign) key=$2 ;;
		--feed) feed=$2 publish=$1 ;;
		--expires) expires=$2 publish=$1 ;;
		*) echo "build.sh lists: '$1' is none of --latest, --sign, --feed and --expires" >&2; exit 2 ;;
		esac
		shift 2
	done
	[ -n "$key" ] || [ -z "$publish" ] || {
		echo "build.sh lists: $publish needs --sign SECRETKEYFILE; 'addrspec lists keygen lists.key' makes one" >&2
		exit 2
	}
	[ -z "$key" ] || [ -r "$key" ] || { echo "build.sh lists: cannot read the secret key $key" >&2; exit 1; } # before the minutes of packing
	[ -z "$latest" ] || go run ./lists/refresh -latest
	settle
	[ -z "$key" ] || go run ./lists/publish -key "$key" -feed "$feed" -expires "$expires"
}

# near.txt is computed from the blob that it is packed into, so pack, near and
# pack repeat until a round changes nothing. The programs print what changed.
settle() {
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

# What builds the Python wheel.
wheel_tools() {
	[ -x "$ADDRSPEC_PYTHON" ] || python3 -m venv --without-pip "$ADDRSPEC_BINDINGS/python"
	wanted=$(sed -n 's/^requires = \["\(hatchling==[0-9.]*\)"\]$/\1/p' wasm/bindings/python/pyproject.toml)
	"$ADDRSPEC_PYTHON" -c "import importlib.metadata as m; assert 'hatchling==' + m.version('hatchling') == '$wanted'" ||
		python3 -m pip --python "$ADDRSPEC_PYTHON" install --disable-pip-version-check "$wanted"
}

# What is missing for a part leaves that part out; the program lists it at the end.
release() {
	verify= arguments= key=
	while [ $# -gt 0 ]; do
		case $1 in
		--sign) [ $# -gt 1 ] || { echo 'build.sh release: --sign needs SECRETKEYFILE' >&2; exit 2; }; key=$2; shift ;;
		--dirty) arguments=-dirty ;;
		--verify) verify=1 ;;
		*) echo "build.sh release: '$1' is none of --sign, --dirty and --verify" >&2; exit 2 ;;
		esac
		shift
	done
	# Before the minutes of building; the program looks again.
	[ -z "$key" ] || [ -r "$key" ] || { echo "build.sh release: cannot read the secret key $key" >&2; exit 1; }
	[ -n "$arguments" ] || [ -z "$(git status --porcelain)" ] || {
		echo 'build.sh release: the tree differs from its commit: commit or remove the changes (git status), or pass --dirty for a trial' >&2
		exit 1
	}
	ADDRSPEC_BINDINGS=$(bindings_cache)
	ADDRSPEC_PYTHON=$ADDRSPEC_BINDINGS/python/bin/python3
	export ADDRSPEC_BINDINGS ADDRSPEC_PYTHON
	mkdir -p $logs
	quietly wheel_tools wheel_tools || echo '   the wheel will be left out'
	quietly edge_tools edge_tools || echo '   the npm package will be left out'
	build_module
	build_component >/dev/null || rm -f dist/addrspec.component.wasm # an old one would be taken
	go run ./wasm/release build $arguments ${key:+-sign "$key"}
	[ -z "$verify" ] || go run ./wasm/release verify
}

# With --peers it also asks the registries for the lists of days in the past.
evaluate() {
	go run ./core/eval "$@" || return
	case " $* " in
	*' --to '*) return ;;
	esac
	printf '\nthrow-away domains known before the proof-backed list had them, by going back in time:\n\n'
	go run ./lists/back || echo 'left out: it needs npm, python3 with pip, and their registries; lists/README.md has the table'
}

command=${1:-build}
[ $# -eq 0 ] || shift
case $command in
build) build ;;
run) run "$@" ;;
edge) run_edge "$@" ;;
test)
	case ${1:-} in
	'') check ;;
	all) check_all ;;
	*)
		echo "build.sh test: '$1' is not 'all'" >&2
		exit 2
		;;
	esac
	;;
bench) bench "$@" ;;
soak) soak "$@" ;;
screenshots) screenshots ;;
release) release "$@" ;;
lists) lists "$@" ;;
eval) evaluate "$@" ;;
-h | --help | help) usage ;;
*)
	echo "build.sh: there is no sub-command '$command'" >&2
	usage >&2
	exit 2
	;;
esac
