#!/bin/sh
# package.sh OUTDIR builds the jars with the functions for Spark and Flink, from ../spark,
# ../flink and the artifact in .., into the Maven repository OUTDIR/maven. Each jar holds
# all that it needs but the engine. It prints the files, one a line, and uses the network
# only for what Maven has not fetched before.
#
# The files are the same to the byte for the same sources, module and JDK, whatever the
# directories. Their time is SOURCE_DATE_EPOCH, if it is set.
set -eu

command -v mvn >/dev/null && command -v javac >/dev/null && javac --release 17 --version >/dev/null 2>&1 || {
	echo 'skipped: java/engines: install a JDK 17 or newer and Maven 3.6 or newer'
	exit 3
}

mkdir -p "$1"
out=$(cd "$1" && pwd)
java=$(cd "$(dirname "$0")/.." && pwd)
module=${ADDRSPEC_MODULE:-$java/../../../dist/addrspec.wasm}
[ -f "$module" ] || { echo "package.sh: $module is missing: run ./build.sh" >&2; exit 1; }

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# A jar has the permissions of its files: those of a copy do not depend on the user's.
umask 022
mkdir "$copy/source"
cp -R "$java/pom.xml" "$java/src" "$java/engines" "$java/spark" "$java/flink" "$java/../../../LICENSE" "$copy/source/"
rm -rf "$copy"/source/*/target
chmod -R u=rwX,go=rX "$copy/source"

# maven builds all three in one run, so that no artifact of another build is taken.
maven() {
	mvn --batch-mode --quiet "$@" -f "$copy/source/engines/pom.xml" -DskipTests -Dmaven.test.skip \
		-Dmaven.javadoc.skip -Dmaven.source.skip -Dmodule="$module" -Dlicense="$copy/source" \
		${SOURCE_DATE_EPOCH:+-Dproject.build.outputTimestamp="$SOURCE_DATE_EPOCH"} package
}
maven --offline >"$copy/log" 2>&1 || maven >"$copy/log" 2>&1 || { cat "$copy/log" >&2; exit 1; }

for name in addrspec-spark addrspec-flink; do
	source=$copy/source/${name#addrspec-}
	version=$(sed -n '/<artifactId>'$name'</{n;s:^  <version>\(.*\)</version>$:\1:p;}' "$source/pom.xml")
	directory=$out/maven/io/github/addrspec/$name/$version
	mkdir -p "$directory"
	cp "$source/target/$name-$version.jar" "$directory/"
	cp "$source/dependency-reduced-pom.xml" "$directory/$name-$version.pom" # without what the jar holds
	for file in "$directory/$name-$version.pom" "$directory/$name-$version.jar"; do
		sha1sum "$file" | cut -d' ' -f1 | tr -d '\n' >"$file.sha1" # Maven verifies it
		echo "$file"
		echo "$file.sha1"
	done
done
