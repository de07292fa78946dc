# The layers of the tests, for ./build.sh test, which reads this file.
#
#   test       everything that an edit may break, in minutes: formatting, vet, every
#              Go test once (go test -short), the contract at the origin and at the
#              worker on Node and workerd, one journey in Chromium where it is installed
#   test ci    what of the rest ends within 45 minutes on two cores: the race detector,
#              staticcheck, .ci/tools/style, the tests without -short with Deno, Bun, wrangler, bundlers,
#              bindings, generated clients, proxies, hook examples, the browser
#   test all   both, and what takes longer: engines, the component, the lists against
#              npm, other validators, fuzzing, the soak, the release built twice.
#              .ci/only-all.txt lists these with the day and commit of their last green run
#
# A test says itself which layer it is for: it is skipped if testing.Short(), or unless
# ADDRSPEC_ALL is set.

# test_layer [ci|all] runs a layer.
test_layer() {
	case ${1:-} in
	'') test_usual ;;
	ci) test_ci ;;
	all) test_all ;;
	*)
		echo "build.sh test: '$1' is neither 'ci' nor 'all'" >&2
		exit 2
		;;
	esac
}

# modules lists the directories of the Go modules: the product, the tools of the tests,
# and programs that nothing imports. One is left out: tests compile it, if what it needs can
# be fetched.
modules() { git ls-files go.mod '*/go.mod' | xargs -n 1 dirname | grep -vxF origin/rig/contract/clients/go; }

# in_modules COMMAND... runs a command in every module.
in_modules() {
	for module in $(modules); do
		(cd "$module" && "$@") || return
	done
}

# tool NAME runs a tool of the tests. .ci/tools/go.mod pins its version.
tool() { go tool -modfile="$root/.ci/tools/go.mod" "$@"; }

# fetched TOOL FLAG reports whether the Go proxy has the tool. FLAG prints its version.
fetched() {
	tool "$1" "$2" >"$logs/$1-version.log" 2>&1 || {
		echo "   skipped: $1 could not be fetched: see $logs/$1-version.log"
		return 1
	}
}

# debian PACKAGE... installs Debian's packages where we may.
debian() {
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "install $*"; return 1; }
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "$@"
}

has_chromium() {
	[ -n "${ADDRSPEC_CHROMIUM:-}" ] || command -v chromium || command -v chromium-browser || command -v google-chrome
}

# The tools of the layers. Each is a step whose failure leaves tests out, by name.
journey_tools() {
	has_chromium || { echo 'Chromium is not installed'; return 1; }
	npm_packages origin/dashboard/browser
}
runtime_tools() { npm_packages edge/runtimes && npm_packages edge/platforms; }
form_tools() { npm_packages edge/test/forms; }
hook_tools() { npm_packages origin/signuphook/examples; }

# The browser's tests drive Chromium: Debian's package, or the one at ADDRSPEC_CHROMIUM.
browser_tools() { npm_packages origin/dashboard/browser && { has_chromium || debian chromium; }; }

# PostgreSQL, and nginx, Caddy and Prometheus's promtool for the files in origin/deploy.
server_tools() {
	missing=
	ls /usr/lib/postgresql/*/bin/postgres || missing="$missing postgresql"
	command -v nginx || [ -x /usr/sbin/nginx ] || missing="$missing nginx-light"
	command -v caddy || missing="$missing caddy"
	command -v promtool || missing="$missing prometheus"
	[ -z "$missing" ] || debian $missing
}

# What the library in C and what is built on it need: wasm2c, compilers for its platforms and
# what runs their programs.
native_tools() {
	missing=
	command -v wasm2c || missing="$missing wabt"
	command -v cmake || missing="$missing cmake"
	command -v clang || missing="$missing clang"
	ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-* || missing="$missing libclang-rt-14-dev"
	command -v valgrind || missing="$missing valgrind"
	ls /usr/include/postgresql/*/server/postgres.h || missing="$missing postgresql-server-dev-all"
	command -v sqlite3 || missing="$missing sqlite3"
	[ -e /usr/include/sqlite3ext.h ] || missing="$missing libsqlite3-dev"
	command -v aarch64-linux-gnu-gcc || missing="$missing gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
	command -v qemu-aarch64 || missing="$missing qemu-user"
	command -v x86_64-w64-mingw32-gcc || missing="$missing gcc-mingw-w64-x86-64"
	command -v wine64 || [ -x /usr/lib/wine/wine64 ] || missing="$missing wine64"
	command -v phpize || missing="$missing php-cli php-dev"
	ls /usr/sbin/php-fpm* || missing="$missing php-fpm"
	[ -d /usr/share/php/Illuminate/Validation ] || missing="$missing php-symfony-validator php-illuminate-validation composer"
	command -v gem && [ -d /usr/include/ruby-3.1.0 ] || missing="$missing ruby ruby-dev"
	ruby -e 'require "active_model"; require "minitest"' || missing="$missing ruby-activemodel ruby-minitest"
	[ -z "$missing" ] || debian $missing || return
	# Ruby's headers for arm64, for a gem that is compiled for it.
	[ -d /usr/include/aarch64-linux-gnu/ruby-3.1.0 ] || { dpkg --add-architecture arm64 && debian ruby3.1-dev:arm64; }
}

# What lints openapi.json and makes clients of it, for origin/rig/contract/clients.
client_tools() {
	go -C origin/rig/contract/clients/go mod download && tool -n oapi-codegen
	python_packages 'import mypy, openapi_python_client, schemathesis, wasmtime' -r origin/rig/contract/clients/requirements.txt
	npm_packages origin/rig/contract/clients
}

# prepare STEP... fetches what tests need. It takes time, but little of the processors'.
prepare() {
	for tools in "$@"; do
		quietly "$tools" "$tools" || echo "   $(tail -n 1 "$logs/$tools.log"): tests that need it will be skipped"
	done
}

# installed prints which tools are there. Go keeps the result of a test until a file or
# an environment variable that it reads changes, and knows nothing of tools.
installed() {
	for name in node psql chromium chromium-browser google-chrome nginx caddy promtool python3 cargo rustc java javac mvn \
		cc gcc g++ clang cmake make pkg-config valgrind wasm2c aarch64-linux-gnu-gcc qemu-aarch64 x86_64-w64-mingw32-gcc wine64 php phpize composer ruby gem deno bun minisign nsd unbound fish zsh bash systemd-analyze; do
		command -v $name || true
	done
	node --version 2>&1 || true
	ls -l /usr/lib/postgresql/*/bin/postgres /usr/include/postgresql/*/server/postgres.h /usr/include/sqlite3ext.h $(git ls-files '*package-lock.json' | sed 's|package-lock.json|node_modules/.&|') 2>&1 || true
}

# keeping prints a flag with which Go keeps results until a tool is installed. Its pattern skips no test.
keeping() { echo "-skip=^tools:$(installed | cksum | tr ' ' :)\$"; }

formatted() {
	unformatted=$(gofmt -l $(git ls-files '*.go'))
	[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted"; return 1; }
}

# What .ci/tools/style finds: tests that depend on how fast the machine is, and in the
# product assignments in conditions and too many functions with one caller.
style() { program .ci/tools/style "$@"; }

# go_test NAME FLAGS... tests packages, and prints a line for each of them and what
# failed. Several packages run at once, because tests wait for processes. Without paths
# and symbols the binaries of all clones are the same, and linked in half of the time.
# go test vets what it compiles; ci has all of go vet. The timeout is for tests that hang:
# with empty caches a slow machine took over 30 minutes for wasm/bindings, which CI does in 12.
go_test() {
	record=$1
	shift
	set -- -ldflags='-s -w' -p 4 -parallel 8 -timeout 80m "$@"
	fetched gotestsum --version || { go test "$@"; return; }
	tool gotestsum --format pkgname --format-hide-empty-pkg --hide-summary=skipped --jsonfile "$logs/$record.json" -- "$@"
}

# test_programs FLAGS... tests the modules besides the product's. Go looks for changed files
# only within a module, and these tests read files of the product, so no result is kept.
test_programs() {
	for module in $(modules | grep -vx .); do
		step "testing $module"
		(cd "$module" && go_test "${module##*/}" -count=1 "$@" ./...) || programs_failed=1
	done
	[ -z "${programs_failed:-}" ]
}

# skipped NAME... prints why tests of these runs were skipped.
skipped() {
	for record; do
		[ ! -f "$logs/${record##*/}.json" ] || set -- "$@" "$logs/${record##*/}.json"
		shift
	done
	[ $# -eq 0 ] || go run -C .ci/tools ./skipped "$@"
}

# The databases of the tests are in memory where there is room: a flush of a shared disk
# can take more than a second, which to a test looks like an outage. The directory has
# the same name in each run, because Go keeps no result of a test whose environment
# differs.
databases_in_memory() {
	[ -z "${dir:-}" ] || return 0
	free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
	[ "${free:-0}" -gt 2097152 ] || return 0
	dir=/dev/shm/addrspec-$(id -u)-$(pwd | cksum | cut -d' ' -f1)
	if [ -e "$dir" ] && kill -0 "$(cat "$dir/pid" 2>/dev/null || echo 0)" 2>/dev/null; then
		dir=$(mktemp -d /dev/shm/addrspec.XXXXXX) # another run of this clone
	fi
	rm -rf "$dir" && mkdir -m 755 "$dir" || return 0 # PostgreSQL does not run as root
	echo $$ >"$dir/pid"
	trap 'rm -rf "$dir"' EXIT
	trap 'exit 1' HUP INT TERM
	export GOTMPDIR="${TMPDIR:-/tmp}" TMPDIR="$dir"
}

# settings exports what all layers read.
settings() {
	mkdir -p "$logs"
	export TEST_ADDRSPEC_MODULES="$root/dist"
	bindings_cache
	failed=
	started=$(date +%s)
}

# ended LAYER prints the result.
ended() {
	took=$(($(date +%s) - started))
	[ -z "$failed" ] || { echo "./build.sh $1: some tests failed after $took s: see above and $logs" >&2; return 1; }
	echo "./build.sh $1: green in $took s"
}

# The tests of core need no module, so they run while it is built.
test_usual() {
	settings
	step 'fetching tools, building the module and testing core; the first time Go compiles for minutes'
	prepare edge_tools journey_tools &
	prepared=$!
	quietly 'build the module' build_module &
	module=$!
	quietly gofmt formatted || failed=1
	quietly 'no timed tests' style $(git ls-files '*_test.go') || failed=1
	go_test core -short ./core/... || failed=1
	wait $module || failed=1
	wait $prepared
	databases_in_memory
	step 'testing the rest; a line for each package'
	go_test test -short $(keeping) $(go list ./... | grep -vE '/addrspec/core(/|$)') || failed=1
	test_programs -short || failed=1
	skipped core test $(modules)
	ended test
}

# The race detector needs a C compiler. It leaves out the two packages that would take
# most of its time and use neither sync, atomic nor other packages' generic functions:
# SQLite, as translated from C, and the end of wazero's compiler. Of a flag given twice
# the later counts. Other packages must be in: the linker keeps one copy of a generic
# function, and sync.Map without the detector's marks is reported as a race.
race_detector() {
	set -- -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=github.com/tetratelabs/wazero/internal/engine/wazevo/backend/...=-race=false
	CGO_ENABLED=1 go build "$@" -o /dev/null ./wasm/host 2>/dev/null && echo "$@" || echo '   skipped: the race detector (no C compiler)' >&2
}

# race runs the tests of test_usual again, for every package of origin and the host, and keeps results as
# that does. rig has what tests share, and the tests of dashboard/browser only drive other programs.
race() (
	export CGO_ENABLED=1
	go_test race -short -vet=off $(keeping) $race $(go list ./origin/... ./wasm/host/... | grep -vE '/origin/(rig/|dashboard/browser$)')
)

# packages_with TEXT lists the packages of the product whose tests contain it.
packages_with() { git grep -l "$1" -- '*_test.go' | sed 's|/[^/]*$||' | sort -u | grep -vxF "$(modules)" | sed 's|^|./|'; }

# static_checks runs what reads the sources only. Each check is a step of its own.
static_checks() {
	wrong=
	quietly style style $(git ls-files '*.go' ':!*_test.go' ':!*/testdata/*') || wrong=1
	quietly 'go vet' in_modules go vet ./... || wrong=1
	# Only test all builds the component.
	quietly 'go vet of the component' env GOOS=wasip1 GOARCH=wasm go vet -tags component ./wasm/guest || wrong=1
	if fetched staticcheck -version; then quietly staticcheck in_modules tool staticcheck ./... || wrong=1; fi
	[ -z "$wrong" ]
}

# Results of tests without -short are never Go's kept ones: these tests build programs whose sources
# Go does not see. What runs without -short here is what test_usual has left out, with the rest of
# its packages. Nothing is vetted again, because static_checks has all of go vet.
test_ci() {
	step 'testing what ./build.sh test leaves out; up to 45 minutes'
	settings
	static_checks &
	checks=$!
	prepare edge_tools runtime_tools form_tools browser_tools server_tools native_tools client_tools hook_tools &
	prepared=$!
	quietly 'build the module' build_module || failed=1
	wait $prepared
	# Before the packages are built, which leave the databases too little of a processor for a second.
	(databases_in_memory; go_test whole -count=1 -vet=off $(packages_with 'testing\.Short()' | grep -vE '^./(edge|wasm/bindings)$')) || failed=1
	# The longest, so beside all others; Deno's permissions leave /dev/shm out.
	go_test edge -count=1 -vet=off ./edge ./wasm/bindings &
	edge=$!
	databases_in_memory
	test_programs -vet=off || failed=1
	race=$(race_detector)
	[ -z "$race" ] || race || failed=1
	wait $edge || failed=1
	wait $checks || failed=1
	skipped edge whole race $(modules)
	ended 'test ci'
}

# only_all PART COMMAND... runs a part that only test all has. If it is green on a
# commit, .ci/only-all.txt gets the day and the commit.
only_all() {
	part=$1
	shift
	"$@" || { failed=1; echo "✖  $part"; return; }
	[ -z "$(git status --porcelain | grep -v only-all.txt)" ] || return 0
	sed "s|^$part  *[0-9-]* [0-9a-f-]*|$(printf '%-10s %s %s' "$part" "$(date -u +%F)" "$(git rev-parse --short HEAD)")|" .ci/only-all.txt >"$logs/only-all.txt"
	cat "$logs/only-all.txt" >.ci/only-all.txt
}

test_all() {
	failures=
	(test_usual) || failures=1
	(test_ci) || failures=1
	step 'testing what only ./build.sh test all has; an hour'
	settings
	failed=$failures
	quietly component_tools component_tools || echo '   tests that need them will be skipped'
	export ADDRSPEC_ALL=1 ADDRSPEC_SOAK=1000000
	only_all long long_tests
	databases_in_memory
	only_all fuzzing fuzz_all
	only_all soak soak
	only_all release whole_release
	ended 'test all'
}

# The release is built twice, in two directories, and every file of it is looked into. An
# uncommitted change leaves that out, since a release is one of a commit.
whole_release() {
	[ -z "$(git status --porcelain | grep -v only-all.txt)" ] || { echo '   skipped: the release (the tree differs from its commit)'; return 1; }
	(
		export TMPDIR="${GOTMPDIR:-${TMPDIR:-/tmp}}" # the second cache of compiled code is too large for the memory
		release --verify
	) && (cd wasm/release && export ADDRSPEC_RELEASE="$root/dist/release" && go_test release -count 1 -run TestBuilt .)
}

# long_tests has the tests with ADDRSPEC_ALL, and those of the other validators.
long_tests() {
	go_test all -count=1 -timeout 3h ./wasm/wit $(packages_with 'ADDRSPEC_\(ALL\|SOAK\)') &&
		(cd core/eval/peers && go_test peers-all -count=1 -run '^TestTools$' .)
}

# fuzz_all gives every fuzz target 50,000 new inputs. A number, because at the end
# of a time Go may report a failure that is none (go.dev/issue/75804). What it
# finds is kept under testdata, where the usual tests run it from then on. Making
# inputs shorter is limited, since Go tries for a minute with each that is long.
fuzz_all() {
	fuzz_failed=
	for found in $(git grep -o '^func Fuzz[A-Za-z0-9]*' -- '*_test.go' | sed 's/func //'); do
		target=${found#*:}
		quietly "$target" go -C "$(dirname "${found%%:*}")" test -run '^$' -fuzz "^$target\$" -fuzztime 50000x -fuzzminimizetime 10x || fuzz_failed=1
	done
	[ -z "$fuzz_failed" ]
}
