package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/addrspec/addrspec/origin/doctor"
	"github.com/addrspec/addrspec/wasm/host"
)

// engineDoctor checks the module. Its checks share one engine.
type engineDoctor struct {
	flags  *moduleFlags
	once   sync.Once
	engine *host.Engine
	err    error
}

// started returns the engine, which ends with the process.
func (d *engineDoctor) started() (*host.Engine, error) {
	d.once.Do(func() { d.engine, d.err = d.start(context.Background()) })
	return d.engine, d.err
}

// start starts the module. It uses no cache of another user: entries that root makes
// in the service's could not be read by the service.
func (d *engineDoctor) start(ctx context.Context) (*host.Engine, error) {
	blob, err := d.flags.blob()
	if err != nil {
		return nil, fmt.Errorf("--lists: %w", err)
	}
	wasm, err := d.flags.wasm()
	if err != nil {
		return nil, err
	}
	engine, err := host.Open(ctx, wasm, host.Options{Size: 1, Lists: blob, CacheDir: d.cacheDir()})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.flags.source(), err)
	}
	return engine, nil
}

// module checks an address with the module.
func (d *engineDoctor) module(ctx context.Context) (string, error) {
	engine, err := d.started()
	if err != nil {
		return "", err
	}
	facts, err := engine.Check(ctx, nil, "postmaster@example.org", 0)
	if err != nil {
		return "", err
	}
	if !facts.Valid {
		return "", fmt.Errorf("%s rejects postmaster@example.org: rebuild it", d.flags.source())
	}
	info := engine.View().Info()
	return fmt.Sprintf("engine %s, model %s", info.Engine, info.Model), nil
}

// info returns the versions of module and lists.
func (d *engineDoctor) info(context.Context) (host.Info, error) {
	engine, err := d.started()
	if err != nil {
		return host.Info{}, err
	}
	return engine.View().Info(), nil
}

func (d *engineDoctor) cacheDir() string {
	if dir := d.flags.cacheDir(); doctor.Ours(dir) {
		return dir
	}
	return ""
}
