#!/bin/sh
# package.sh OUTDIR writes the Go module as a file tree for GOPROXY into OUTDIR/goproxy.
# It has the built module, which git does not have.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../../.."
exec go -C wasm/release run . goproxy "$out"
