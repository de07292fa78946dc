package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// moduleFiles are what wasm/build makes. The component needs Node and may be missing.
var moduleFiles = []struct {
	name     string
	optional string // why it may be missing; "" if it must be there
}{
	{name: "addrspec.wasm"},
	{name: "addrspec-plain.wasm"},
	{name: "addrspec-cli.wasm"},
	{name: "addrspec.component.wasm", optional: "it needs Node and npm"},
}

// modules copies the built modules. They are older than the sources if somebody runs
// this command without ./build.sh, which is why a difference from the embedded one is
// an error.
func (r *release) modules(context.Context) error {
	for _, m := range moduleFiles {
		wasm, err := os.ReadFile(r.path("dist/" + m.name))
		if errors.Is(err, os.ErrNotExist) && m.optional != "" {
			r.skip(m.name + ": " + m.optional)
			continue
		}
		if err != nil {
			return fmt.Errorf("%w; ./build.sh release builds the modules first", err)
		}
		if err := os.WriteFile(r.inOut(m.name), wasm, 0o644); err != nil {
			return err
		}
	}
	return r.sameAsEmbedded()
}

// sameAsEmbedded returns an error unless the program embeds the module of dist.
func (r *release) sameAsEmbedded() error {
	built, err := digestFile(r.path("dist/addrspec.wasm"))
	if err != nil {
		return err
	}
	embedded, err := digestFile(r.path("wasm/module/addrspec.wasm"))
	if err != nil {
		return err
	}
	if built != embedded {
		return errors.New("wasm/module/addrspec.wasm is not dist/addrspec.wasm: run ./build.sh release")
	}
	return nil
}
