package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/addrspec/addrspec/wasm/internal/slim"
)

// program is the module in two sizes. It starts with the functions that checks usually
// call (package slim): a third of the code, so that a start takes less time and memory.
// It loads the whole module when an instance first lacks a function.
type program struct {
	wasm     *io.SectionReader // the whole module
	cacheDir string
	small    *code // nil if the module does not say which functions checks call

	needWhole atomic.Bool
	loading   sync.Mutex
	whole     *code // nil until it is loaded
	closed    bool
}

// errClosed is returned for a call after Engine.Close.
var errClosed = errors.New("the engine is closed")

// load loads the functions of wasm that checks usually call, or all.
func load(ctx context.Context, wasm *io.SectionReader, cacheDir string) (p *program, err error) {
	p = &program{wasm: wasm, cacheDir: cacheDir}
	small, ok := slim.Cut(wasm)
	if !ok {
		p.requireWhole()
		_, err = p.loadWhole(ctx)
		return p, err
	}
	if p.small, err = compile(ctx, small.Code, cacheDir); err != nil {
		return nil, err
	}
	p.small.memory = small
	small.Code = nil // the engine has it
	return p, nil
}

// requireWhole makes every later instance one of the whole module.
func (p *program) requireWhole() { p.needWhole.Store(true) }

// suits reports whether a caller may use i.
func (p *program) suits(i *instance) bool { return !i.slim || !p.needWhole.Load() }

// loadWhole returns the whole module, which the first call loads.
func (p *program) loadWhole(ctx context.Context) (*code, error) {
	p.loading.Lock()
	defer p.loading.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if p.whole != nil {
		return p.whole, nil
	}
	wasm := make([]byte, p.wasm.Size())
	if _, err := p.wasm.ReadAt(wasm, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read the module: %w", err)
	}
	whole, err := compile(ctx, wasm, p.cacheDir)
	p.whole = whole
	return whole, err
}

// instantiate starts an instance with blob as its lists; nil means the module's own.
func (p *program) instantiate(ctx context.Context, blob []byte) (*instance, error) {
	if !p.needWhole.Load() {
		i, err := p.small.instantiate(ctx, blob)
		if err == nil {
			i.slim = true
			return i, nil
		}
		if errors.Is(err, ErrLists) || errors.Is(err, ErrListsSize) {
			return nil, err // the module's answer
		}
		p.requireWhole()
	}
	whole, err := p.loadWhole(ctx)
	if err != nil {
		return nil, err
	}
	return whole.instantiate(ctx, blob)
}

// close closes all instances and frees the machine code.
func (p *program) close(ctx context.Context) (err error) {
	p.loading.Lock()
	defer p.loading.Unlock()
	p.closed = true
	for _, c := range []*code{p.small, p.whole} {
		if c != nil {
			err = errors.Join(err, c.runtime.Close(ctx))
		}
	}
	return err
}
