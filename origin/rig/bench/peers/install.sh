#!/bin/sh
# install.sh LANGUAGE builds our package of a language from dist/addrspec.wasm, installs it beside its
# peers, and prints the directory, which is kept for a month since its last use. No script of an npm
# package runs.
set -eu
cd "$(dirname "$0")"
root=$(cd ../../../.. && pwd)
bindings=$root/wasm/bindings
case $1 in
node) tool=npm from="package.json $(echo *.mjs) $root/edge/package $root/edge/src" ;;
python) tool=python3 from="requirements.txt $bindings/python $bindings/c" ;;
java) tool=mvn from="pom.xml Address.java $bindings/java" ;;
php) tool=phpize from="$bindings/php $bindings/c" ;;
ruby) tool=gem from="$bindings/ruby $bindings/c" ;;
esac
command -v $tool >/dev/null || { echo "$tool is not installed" >&2 && exit 1; }
key=$(find install.sh "$root/dist/addrspec.wasm" $from -type f ! -name '*.pyc' ! -path '*/target/*' | LC_ALL=C sort |
	xargs cat | cksum | tr ' ' -)
cache=${ADDRSPEC_BINDINGS:-${XDG_CACHE_HOME:-$HOME/.cache}/addrspec}
dir=$cache/peers-$1-$key
mkdir -p "$dir"
touch "$dir"
find "$cache" -maxdepth 1 -name 'peers-*' -mtime +30 -exec rm -rf {} +
echo "$dir"
[ ! -f "$dir/done" ] || exit 0

node() {
	cp package.json ./*.mjs "$dir"
	"$root/edge/package.sh" "$dir"
	cd "$dir"
	npm install --ignore-scripts --no-audit --no-fund --loglevel=error ./addrspec-*.tgz
}

# The names of our wheels are not ours on PyPI, so pip takes them from their directory alone.
python() {
	python3 -m venv "$dir"
	"$dir/bin/pip" install --quiet --only-binary=:all: -r requirements.txt
	ADDRSPEC_PYTHON=$dir/bin/python WHEELS="any linux-$(uname -m)" "$bindings/python/package.sh" "$dir/wheels" ||
		[ $? -eq 3 ] # some wheels were skipped
	"$dir/bin/pip" install --quiet --no-index --no-deps --find-links "$dir/wheels" addrspec
}

java() {
	"$bindings/java/package.sh" "$dir"
	for pom in "$bindings/java/pom.xml" pom.xml; do
		mvn --batch-mode --quiet -f "$pom" -Dtarget="$dir/target" dependency:copy-dependencies -DincludeScope=runtime \
			-DoutputDirectory="$dir/lib"
	done
	find "$dir/maven" -name 'addrspec-*[0-9].jar' -exec cp {} "$dir/lib" \;
	javac -cp "$dir/lib/*" -d "$dir" Address.java
}

# To compile the C library takes minutes.
php() {
	"$bindings/c/package.sh" "$dir"
	"$bindings/php/package.sh" "$dir"
	cd "$dir"
	for archive in addrspec-*.tar.gz; do tar -xzf "$archive"; done
	make --silent -C addrspec-c-*/ install PREFIX="$dir/c"
	(cd addrspec-php-*/ext && phpize && ./configure --quiet --with-addrspec="$dir/c" && make --silent)
	mv addrspec-php-*/ext/modules/addrspec.so .
}

# The gem with the sources compiles them, for the Ruby that is here.
ruby() {
	GEMS=ruby "$bindings/ruby/package.sh" "$dir"
	gem install --local --no-document --install-dir "$dir" "$dir"/addrspec-*.gem
}

trap '[ $? -eq 0 ] || grep . "$dir/log" | tail -n 1 >&2' EXIT
$1 >"$dir/log" 2>&1
touch "$dir/done"
