// Command build makes the modules that are shipped:
//
//	go run ./wasm/build [-o dist] [-component]
//
//	addrspec.wasm        pre-initialised, without imports: runs in any engine
//	addrspec-plain.wasm  the same as a WASI reactor; prints the cause of a crash
//	addrspec-cli.wasm    a WASI command: reads addresses, prints NDJSON
//
// and with -component, which needs Node and, the first time, npm:
//
//	addrspec.component.wasm  a component without imports (wasm/wit/addrspec.wit)
//
// The same commit and Go tool chain give the same bytes. The steps are in
// packages compile and pack. The command does not put the module into
// wasm/module, where the Go program embeds it; ./build.sh does.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/addrspec/addrspec/wasm/build/compile"
	"github.com/addrspec/addrspec/wasm/build/pack"
)

func main() {
	out := flag.String("o", "dist", "output directory")
	component := flag.Bool("component", false, "also build addrspec.component.wasm")
	flag.Parse()
	if err := run(context.Background(), *out, *component); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, component bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	plain, err := compile.Reactor(ctx)
	if err != nil {
		return err
	}
	packed, err := pack.Pack(ctx, plain)
	if err != nil {
		return err
	}
	command, err := compile.Command(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(
		write(dir, "addrspec.wasm", packed),
		write(dir, "addrspec-plain.wasm", plain),
		write(dir, "addrspec-cli.wasm", command))
	if err != nil || !component {
		return err
	}
	wasm, err := compile.Component(ctx)
	if err != nil {
		return err
	}
	return write(dir, "addrspec.component.wasm", wasm)
}

// write writes one module to dir and prints its size, raw and compressed. It does
// not touch an unchanged file, so that go test reuses its cached results.
func write(dir, name string, wasm []byte) error {
	var zipped bytes.Buffer
	w, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	w.Write(wasm)
	w.Close()
	fmt.Printf("%-24s %9d bytes, %8d gzip\n", name, len(wasm), zipped.Len())
	file := filepath.Join(dir, name)
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, wasm) {
		return nil
	}
	return os.WriteFile(file, wasm, 0o644)
}
