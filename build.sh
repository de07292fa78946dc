#!/bin/sh
# build.sh builds, runs, tests and measures addrspec.
#
#   ./build.sh         build dist/addrspec with its man page (dist/addrspec.1) and
#                      dist/completion/, and the modules (dist/*.wasm)
#   ./build.sh run     build, start on 127.0.0.1:8080 with SQLite under data/
#   ./build.sh test    formatting, vet, every Go test once, the worker on Node and
#                      workerd, a journey in Chromium; minutes
#   ./build.sh test ci besides: the race detector, staticcheck, bindings, other
#                      runtimes, proxies, the browser; up to 45 minutes
#   ./build.sh test all
#                      both, and engines, fuzzing, the soak, the release; an hour more.
#                      .ci/layers.sh describes the three layers
#   ./build.sh bench [--quick] [--only PATTERN] [--json FILE]
#                      the performance table: each figure beside a peer or a limit in
#                      the same run; --help lists the flags
#   ./build.sh bench go
#                      the Go benchmarks of all packages, for work on one of them
#   ./build.sh release [--sign SECRETKEYFILE] [--dirty]
#                      all packages, programs and modules of a release, in dist/release/;
#                      wasm/release/README.md describes them
#   ./build.sh release --verify
#                      the same, built a second time in another directory, and compared
#   ./build.sh lists   pack lists/ and rewrite near.txt until neither changes
#   ./build.sh lists --latest --observed DIR|URL --sign SECRETKEYFILE --feed DIR --expires 30d
#                      fetch the newest published lists first, and add the list of
#                      domains seen in abuse, which is on no registry (lists/README.md);
#                      sign the blob and write a feed that any web server can serve.
#                      Each flag is optional; --feed and --expires need --sign
#   ./build.sh edge    build dist/edge: the worker for each platform, the demo page
#   ./build.sh edge --origin URL --listen HOST:PORT --secret S
#                      build, run the edge worker in workerd on this machine
#   ./build.sh screenshots
#                      pictures of the pages of seeded accounts, in
#                      dist/screenshots
#   ./build.sh soak    kill real processes, fill disks, stop databases for some
#                      minutes, and report which guarantees were kept
#   ./build.sh eval    the quality table, on core/eval/data or ADDRSPEC_EVAL; -v lists every wrong row
#   ./build.sh eval --peers
#                      the same rows by other tools, from npm, PyPI and the Go proxy
#
# It needs Go and, for the edge worker, Node. What else a test needs it installs
# from the Go proxy, npm or PyPI, or the test is skipped by name. Steps of the
# tests write to dist/log.
set -eu
cd "$(dirname "$0")"
root=$PWD

# The same flags give the same bytes from the same commit, on any machine, and tests,
# programs and all clones share Go's cache.
export CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false ${GOFLAGS:-}"
# A build without the history, as in a container, is given its release.
release=${ADDRSPEC_RELEASE:-$(git describe --always --dirty 2>/dev/null || echo dev)}

usage() {
	sed -n '2,/^set -eu/{/^#/s/^# \{0,1\}//p;}' build.sh
}

# The module goes where the Go program embeds it from.
build_module() {
	step 'building the module: core and lists, compiled to WebAssembly'
	go run ./wasm/build -o dist
	cmp -s dist/addrspec.wasm wasm/module/addrspec.wasm || cp dist/addrspec.wasm wasm/module/addrspec.wasm
}

build_origin() {
	[ -e dist/addrspec ] || step 'the first build takes minutes, because Go compiles all that the program uses'
	build_module
	step 'building the program dist/addrspec'
	go build -ldflags="-s -w -buildid= -X github.com/addrspec/addrspec/origin/service.Release=$release" -o dist/addrspec ./origin
	build_manual
}

# The man page and the shells' completion, under the names that packages install.
build_manual() {
	mkdir -p dist/completion
	dist/addrspec man >dist/addrspec.1
	dist/addrspec completion bash >dist/completion/addrspec.bash
	dist/addrspec completion zsh >dist/completion/_addrspec
	dist/addrspec completion fish >dist/completion/addrspec.fish
}

# npm_packages DIRECTORY installs the packages of its package-lock.json, unless they are there.
npm_packages() {
	command -v npm >/dev/null || { echo 'npm is not installed: it comes with Node'; return 1; }
	[ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ] || npm ci --prefix "$1"
}

# What the worker is built and tested with.
edge_tools() { npm_packages edge; }

build_edge() {
	edge_tools &&
		node edge/build.mjs workers dist/addrspec.wasm dist/edge &&
		node edge/build.mjs demo dist/addrspec.wasm dist/edge/demo.html
}

# jco makes a component of the module (105 MB).
component_tools() { npm_packages wasm/wit; }

build_component() {
	component_tools && go run ./wasm/build -o dist -component
}

build() {
	build_origin
	echo 'dist/addrspec is ready: try dist/addrspec --help'
}

run() {
	build_origin
	mkdir -p data
	step 'starting the service'
	exec dist/addrspec serve --demo --log text --database sqlite:data/addrspec.db "$@"
}

# Without arguments the worker is built, else run too. Only the worker gets the
# secret: npm runs the scripts of packages.
edge() {
	[ $# -gt 0 ] || [ -n "${ADDRSPEC_ORIGIN:-}" ] || {
		build_module
		build_edge
		echo 'dist/edge is ready: see edge/README.md'
		return
	}
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
		echo 'usage: ./build.sh edge [--origin URL --listen HOST:PORT --secret S]' >&2
		exit 2
	}
	build_module
	build_edge
	workerd=$(cd edge && node -p 'require("workerd").default')
	echo "addrspec edge on http://$listen"
	export ADDRSPEC_ORIGIN="$origin" ADDRSPEC_EDGE_SECRET="$secret"
	exec "$workerd" serve --binary dist/edge/workerd.bin --socket-addr "http=$listen"
}

# step prints what is done now, to standard error.
step() { echo "$(date +%H:%M:%S)  $*" >&2; }

# Where steps write what they print.
logs=$root/dist/log

# quietly NAME COMMAND... runs one step with its output in a log, and prints one
# line: how long it took, or where to read why it failed.
quietly() {
	name=$1 log=$logs/$(echo "$1" | tr ' /' '--').log start=$(date +%s)
	shift
	"$@" >"$log" 2>&1 || {
		echo "✖  $name: see $log"
		return 1
	}
	echo "✓  $name ($(($(date +%s) - start))s)"
}

# bindings_cache makes the directory in which clones share the engines that run the
# module in other languages, and Python's packages, and exports where it is. Compiling
# Rust's takes half a minute. The lock files are its key; directories of other keys go
# after a month.
bindings_cache() {
	locks=$(cat wasm/bindings/*/Cargo.lock wasm/bindings/*/pom.xml wasm/bindings/python/tests/requirements.txt origin/rig/contract/clients/requirements.txt | cksum | cut -d' ' -f1)
	cache=${XDG_CACHE_HOME:-${HOME:-$PWD/dist}/.cache}/addrspec
	mkdir -p "$cache/bindings-$locks"
	touch "$cache/bindings-$locks"
	find "$cache" -maxdepth 1 -name 'bindings-*' -mtime +30 -exec rm -rf {} +
	export ADDRSPEC_BINDINGS="$cache/bindings-$locks" ADDRSPEC_PYTHON="$cache/bindings-$locks/python/bin/python3"
}

# program DIRECTORY ARGUMENTS... runs a program that is a Go module of its own. go run -C
# would run it in its directory, to which files named in the arguments would be relative.
program() {
	go -C "$1" build -o "$root/dist/programs/" . || return
	built=dist/programs/${1##*/}
	shift
	"$built" "$@"
}

# The table is of the programs as they are built for users.
bench() {
	build_origin >/dev/null
	[ "${1:-}" != go ] || { benchmarks; return; }
	program origin/rig/bench -binary dist/addrspec "$@"
}

benchmarks() {
	go test -run '^$' -bench . -benchmem ./core/... ./lists/... ./wasm/... ./origin/... ./edge
}

# The pages of seeded accounts, in light and dark and at the width of a phone.
screenshots() {
	. .ci/layers.sh
	build_module
	browser_tools
	TEST_ADDRSPEC_MODULES=$PWD/dist ADDRSPEC_SCREENSHOTS=$PWD/dist/screenshots \
		go test ./origin/dashboard/browser -count 1 -run '^TestScreenshots$'
	echo "$(find dist/screenshots -name '*.png' | wc -l) pictures are in dist/screenshots"
}

# Without arguments every trial runs in full; see origin/rig/soak/main.go.
soak() {
	build_origin
	program origin/rig/soak -binary dist/addrspec "$@"
}

lists() {
	latest= observed= key= feed=dist/feed expires=30d publish=
	while [ $# -gt 0 ]; do
		[ "$1" = --latest ] || [ $# -gt 1 ] || { echo "build.sh lists: $1 needs a value" >&2; exit 2; }
		case $1 in
		--latest) latest=--latest; shift; continue ;;
		--observed) observed=$2 ;;
		--sign) key=$2 ;;
		--feed) feed=$2 publish=$1 ;;
		--expires) expires=$2 publish=$1 ;;
		*) echo "build.sh lists: '$1' is none of --latest, --observed, --sign, --feed and --expires" >&2; exit 2 ;;
		esac
		shift 2
	done
	[ -n "$key" ] || [ -z "$publish" ] || {
		echo "build.sh lists: $publish needs --sign SECRETKEYFILE; 'addrspec lists keygen lists.key' makes one" >&2
		exit 2
	}
	[ -z "$key" ] || [ -r "$key" ] || { echo "build.sh lists: cannot read the secret key $key" >&2; exit 1; } # before the minutes of packing
	[ -z "$latest$observed" ] || go run ./lists/cmd refresh $latest ${observed:+--observed "$observed"}
	settle
	[ -z "$key" ] || go run ./lists/cmd publish --key "$key" --feed "$feed" --expires "$expires"
}

# near.txt is computed from the blob that it is packed into, so pack, near and
# pack repeat until a round changes nothing. git diff shows what changed.
settle() {
	for tool in go npm; do
		command -v $tool >/dev/null || {
			echo "build.sh lists: $tool is missing: Go runs the programs, npm fetches the sources of near.txt" >&2
			exit 1
		}
	done
	for round in 1 2 3; do
		before=$(cat lists/near.txt lists/lists.blob | cksum)
		go run ./lists/cmd pack
		go run ./core/typo/near
		go run ./lists/cmd pack
		after=$(cat lists/near.txt lists/lists.blob | cksum)
		[ "$before" != "$after" ] || { echo "settled: round $round changed nothing"; return; }
	done
	echo 'build.sh lists: not settled after 3 rounds: see git diff lists' >&2
	exit 1
}

# python_packages CODE ARGUMENTS... has pip install packages if the code fails.
python_packages() {
	[ -x "$ADDRSPEC_PYTHON" ] || python3 -m venv --without-pip "$ADDRSPEC_BINDINGS/python"
	code=$1
	shift
	"$ADDRSPEC_PYTHON" -c "$code" || python3 -m pip --python "$ADDRSPEC_PYTHON" install --disable-pip-version-check "$@"
}

# What builds the Python wheels, and their native code.
wheel_tools() {
	wanted=$(grep -E '^(hatchling|ziglang)==' wasm/bindings/python/tests/requirements.txt | tr '\n' ' ')
	python_packages "import importlib.metadata as m; assert '$wanted'.split() == [n + '==' + m.version(n) for n in ('hatchling', 'ziglang')]" $wanted
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
	[ -n "$arguments" ] && [ -z "$verify" ] || [ -z "$(git status --porcelain)" ] || {
		echo 'build.sh release: the tree differs from its commit: commit or remove the changes (git status), or pass --dirty for a trial' >&2
		exit 1
	}
	bindings_cache
	mkdir -p "$logs"
	quietly wheel_tools wheel_tools || echo '   wheels will be left out'
	quietly edge_tools edge_tools || echo '   the npm package will be left out'
	build_module
	build_component >/dev/null || rm -f dist/addrspec.component.wasm # an old one would be taken
	program wasm/release build $arguments ${key:+-sign "$key"} || return
	[ -z "$verify" ] || verify_release
}

# The commit is built again in a clone in another directory, with an empty cache of compiled
# code, and must have the same files. The sums that a key signed are compared, not the signature.
verify_release() (
	again=$(mktemp -d)
	trap 'rm -rf "$again"' EXIT
	trap 'exit 1' HUP INT TERM
	clone="$again/a directory with another name"
	step "building the release again in $clone"
	git clone --quiet . "$clone" &&
		(cd "$clone" && GOCACHE="$again/cache" ZIG_GLOBAL_CACHE_DIR="$again/zig" ./build.sh release) &&
		diff dist/release/SHA256SUMS "$clone/dist/release/SHA256SUMS" || {
		echo 'build.sh release: the second build failed, or differs in the files above' >&2
		exit 1
	}
	echo 'the same bytes in both directories'
)

command=${1:-build}
[ $# -eq 0 ] || shift
case $command in
build | run | edge | bench | soak | screenshots | release | lists) "$command" "$@" ;;
eval) go run ./core/eval "$@" ;;
test)
	. .ci/layers.sh
	test_layer "$@"
	;;
-h | --help | help) usage ;;
*)
	echo "build.sh: there is no sub-command '$command'" >&2
	usage >&2
	exit 2
	;;
esac
