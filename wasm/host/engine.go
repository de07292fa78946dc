// Package host runs addrspec.wasm in a Go program with wazero: pure Go, no cgo,
// compiled once to machine code.
//
//	engine, err := host.Default() // the module that the program embeds
//	facts, err := engine.Check(ctx, nil, "jane@example.org", 0)
//	fmt.Println(string(facts.JSON))
//
// New runs another module file, with options of its own. View.CheckMany checks many
// addresses with few calls of the module. Package core has the same results as Go types,
// without WebAssembly.
//
// An Engine has a pool of instances of the module, since an instance serves one
// caller at a time. It replaces an instance that trapped. Engine.SetLists
// replaces the lists while callers continue.
//
// The package implements the module's interface (wasm/ABI.md) and depends on
// nothing else of the module. Package module has the bytes to run.
package host

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/wasm/module"
)

// Options configure an Engine. The zero value is valid.
type Options struct {
	// Size is the number of instances, 12 MB each; 0 means GOMAXPROCS. New starts
	// one of them, and concurrent callers the others.
	Size int
	// CacheDir is a directory for compiled machine code, which saves a second at the
	// next start; empty means no cache.
	CacheDir string
	// Lists is a blob of lists; nil means the module's own.
	Lists []byte
}

// Info contains the versions that determine the results.
type Info struct {
	Engine string `json:"engine"` // the checks
	Lists  string `json:"lists"`  // the blob of provider lists
	Model  string `json:"model"`  // the model that scores gibberish
}

// Engine checks addresses. It is safe for concurrent use.
type Engine struct {
	program  *program
	size     int
	current  atomic.Pointer[View]
	counters counters
}

// View is an Engine with the lists that it had at one moment. A batch uses one
// View, so that all its results come from the same lists.
type View struct {
	pool      *pool
	info      Info
	exchanges exchangeMemory
}

// New compiles wasm and starts an instance. It returns an error if wasm is not
// an addrspec module of the supported version, or if the module refuses o.Lists. wasm must
// not change while the engine is open.
func New(ctx context.Context, wasm []byte, o Options) (*Engine, error) {
	if o.Size <= 0 {
		o.Size = runtime.GOMAXPROCS(0)
	}
	program, err := compile(ctx, wasm, o.CacheDir)
	if err != nil {
		return nil, err
	}
	e := &Engine{program: program, size: o.Size}
	view, err := e.newView(ctx, o.Lists)
	if err != nil {
		program.runtime.Close(ctx)
		return nil, err
	}
	e.current.Store(view)
	return e, nil
}

// Default returns an Engine for the module that the program embeds, the same one at
// every call. It keeps machine code in the user's cache directory, since compiling takes a
// second. It fails with module.ErrMissing if the program was compiled from a checkout
// in which the module was not built; the Go module from a proxy has it.
//
// The engine belongs to the whole program: do not close it. Use New for an engine with
// other options, and with other lists than those of the rest of the program.
func Default() (*Engine, error) { return defaultEngine() }

var defaultEngine = sync.OnceValues(func() (*Engine, error) {
	wasm, err := module.Bytes()
	if err != nil {
		return nil, err
	}
	var o Options
	if dir, err := os.UserCacheDir(); err == nil {
		o.CacheDir = filepath.Join(dir, "addrspec") // as `addrspec check`
	}
	return New(context.Background(), wasm, o)
})

// SetLists makes blob the engine's lists; nil means the module's own. It starts
// instances with the new lists before it swaps the view, so callers never wait.
// If the module refuses blob, nothing changes and the error wraps ErrLists or
// is ErrListsSize.
func (e *Engine) SetLists(ctx context.Context, blob []byte) error {
	view, err := e.newView(ctx, blob)
	if err != nil {
		return err
	}
	if err := view.pool.fill(ctx); err != nil {
		view.pool.retire(ctx)
		return err
	}
	if old := e.current.Swap(view); old != nil {
		old.pool.retire(ctx)
	}
	return nil
}

// newView returns a pool with one instance, and blob as the lists of all.
func (e *Engine) newView(ctx context.Context, blob []byte) (*View, error) {
	start := func(ctx context.Context) (*instance, error) {
		return e.program.instantiate(ctx, blob)
	}
	v := &View{pool: &pool{start: start, slots: make(chan struct{}, e.size), counters: &e.counters}}
	err := v.pool.lend(ctx, nil, func(i *instance) error {
		n, err := i.call(ctx, i.info)
		if err != nil {
			return err
		}
		text, ok := i.module.Memory().Read(i.out, n)
		if !ok {
			return errors.New("the info is outside the memory")
		}
		return json.Unmarshal(text, &v.info)
	})
	if err != nil {
		v.pool.retire(ctx)
		return nil, err
	}
	return v, nil
}

// View returns the engine with its current lists.
func (e *Engine) View() *View { return e.current.Load() }

// Check checks one address with the current lists; see View.Check.
func (e *Engine) Check(ctx context.Context, dst []byte, email string, flags Flags) (Facts, error) {
	return e.View().Check(ctx, dst, email, flags)
}

// Close closes the instances and frees the machine code.
func (e *Engine) Close(ctx context.Context) error { return e.program.runtime.Close(ctx) }

// Size returns how many addresses can be checked at a time.
func (v *View) Size() int { return cap(v.pool.slots) }

// Info returns the versions of the engine, the lists and the model.
func (v *View) Info() Info { return v.info }

// Check checks one address and appends the result to dst. It blocks until an
// instance is free or ctx is done. It returns ErrTooLong for an address over 1 MiB.
func (v *View) Check(ctx context.Context, dst []byte, email string, flags Flags) (facts Facts, err error) {
	err = v.pool.lend(ctx, nil, func(i *instance) (err error) {
		facts, err = i.checkAddress(ctx, dst, email, flags)
		return err
	})
	return facts, err
}

// Stats are the counters of an Engine since New, over all its views.
type Stats struct {
	Calls   int64         // acquired instances: checks, and one per new view
	Waits   int64         // calls that waited for a free instance
	Waited  time.Duration // total duration of the waits
	Trapped int64         // instances discarded after a trap
}

// Stats returns the counters. Each is exact, but they are not read at the same
// instant.
func (e *Engine) Stats() Stats {
	c := &e.counters
	return Stats{c.calls.Load(), c.waits.Load(), time.Duration(c.waited.Load()), c.trapped.Load()}
}

type counters struct{ calls, waits, waited, trapped atomic.Int64 }
