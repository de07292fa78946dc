#!/bin/sh
# package.sh OUTDIR builds the npm package, addrspec-VERSION.tgz, from this directory and
# dist/addrspec.wasm, and prints its path. ADDRSPEC_MODULE names another module. npm
# gives all files one time, so the same sources give the same bytes.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
module=$(realpath "${ADDRSPEC_MODULE:-../dist/addrspec.wasm}")
[ -d node_modules/esbuild ] && command -v npm >/dev/null || {
	echo 'skipped: the npm package: install Node 20, then npm ci --prefix edge'
	exit 3
}
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
node build.mjs package "$module" "$temp/lib"
cp package/README.md package/CHANGELOG.md ../LICENSE "$temp"
# What builds and tests the package is of no use to who installs it.
node -e '
const { scripts, devDependencies, ...manifest } = JSON.parse(require("fs").readFileSync("package.json"));
require("fs").writeFileSync(process.argv[1], JSON.stringify(manifest, null, 2) + "\n");' "$temp/package.json"
chmod -R u=rwX,go=rX "$temp" # npm packs the modes, which the caller's umask determines
(cd "$temp" && npm pack --ignore-scripts --silent --pack-destination "$out" >"$temp/name")
echo "$out/$(cat "$temp/name")"
