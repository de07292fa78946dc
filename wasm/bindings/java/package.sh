#!/bin/sh
# package.sh OUTDIR builds the Maven artifact from this directory and dist/addrspec.wasm:
# a repository in OUTDIR/maven, from which Maven and Gradle install it. It prints the
# files, one a line, and uses the network only for what Maven has not fetched before.
#
# The files are the same to the byte for the same sources, module and JDK, whatever the
# directories. Their time is SOURCE_DATE_EPOCH, if it is set.
set -eu

command -v mvn >/dev/null && command -v javac >/dev/null || {
	echo 'skipped: java: install a JDK 11 or newer and Maven 3.6 or newer'
	exit 3
}

mkdir -p "$1"
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
module=${ADDRSPEC_MODULE:-$here/../../../dist/addrspec.wasm}
[ -f "$module" ] || { echo "package.sh: $module is missing: run ./build.sh" >&2; exit 1; }

target=$(mktemp -d)
trap 'rm -rf "$target"' EXIT

# A jar has the permissions of its files: those of a copy do not depend on the user's.
umask 022
mkdir "$target/source"
cp -R "$here/pom.xml" "$here/src" "$here/../../../LICENSE" "$target/source/"
chmod -R u=rwX,go=rX "$target/source"

# maven builds with the options given. It runs no tests: they have a command of their own.
maven() {
	mvn --batch-mode --quiet "$@" -f "$target/source/pom.xml" -DskipTests -Dmaven.test.skip \
		-Dmodule="$module" -Dlicense="$target/source" -Dtarget="$target" \
		${SOURCE_DATE_EPOCH:+-Dproject.build.outputTimestamp="$SOURCE_DATE_EPOCH"} package
}
maven --offline >"$target/log" 2>&1 || maven >"$target/log" 2>&1 || { cat "$target/log" >&2; exit 1; }

version=$(sed -n 's:^  <version>\(.*\)</version>$:\1:p' "$here/pom.xml")
directory=$out/maven/io/github/addrspec/addrspec/$version
name=addrspec-$version
mkdir -p "$directory"
cp "$here/pom.xml" "$directory/$name.pom"
for file in "$name.jar" "$name-sources.jar" "$name-javadoc.jar"; do
	cp "$target/$file" "$directory/$file"
done
for file in "$name.pom" "$name.jar" "$name-sources.jar" "$name-javadoc.jar"; do
	sha1sum "$directory/$file" | cut -d' ' -f1 | tr -d '\n' >"$directory/$file.sha1" # Maven verifies it
	echo "$directory/$file"
	echo "$directory/$file.sha1"
done
