package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"sync/atomic"
)

// Options configure an Engine. The zero value is valid.
type Options struct {
	// Size is the number of instances, 1 to 2 MB each; 0 means GOMAXPROCS. New starts
	// one of them, and concurrent callers the others.
	Size int
	// CacheDir is a folder for compiled machine code, which saves a second at the
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
	pool *pool
	info Info
}

// New compiles wasm and starts an instance. It returns an error if wasm is not
// an addrspec module of the supported version, or if the module refuses o.Lists. wasm must
// not change while the engine is open.
func New(ctx context.Context, wasm []byte, o Options) (*Engine, error) {
	return Open(ctx, io.NewSectionReader(bytes.NewReader(wasm), 0, int64(len(wasm))), o)
}

// Open is New for a module that it reads from wasm, such as module.Open returns. It reads
// the functions that checks usually call, the data for each new instance, and the whole
// module when a check first needs another function: wasm must remain readable.
func Open(ctx context.Context, wasm *io.SectionReader, o Options) (*Engine, error) {
	if o.Size <= 0 {
		o.Size = runtime.GOMAXPROCS(0)
	}
	program, err := load(ctx, wasm, o.CacheDir)
	if err != nil {
		return nil, err
	}
	e := &Engine{program: program, size: o.Size}
	view, err := e.newView(ctx, o.Lists)
	if err != nil {
		program.close(ctx)
		return nil, err
	}
	e.current.Store(view)
	return e, nil
}

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
	v := &View{pool: newPool(e.size, e.program, &e.counters, start)}
	var err error
	for again := true; again; {
		v.info, again, err = v.readInfo(ctx)
	}
	if err != nil {
		v.pool.retire(ctx)
		return nil, err
	}
	return v, nil
}

// readInfo starts an instance and reads its info. again is that of pool.release.
func (v *View) readInfo(ctx context.Context) (info Info, again bool, err error) {
	i, err := v.pool.acquire(ctx)
	if err != nil {
		return info, false, err
	}
	info, err = i.readInfo(ctx)
	return info, v.pool.release(ctx, i, err), err
}

func (i *instance) readInfo(ctx context.Context) (info Info, err error) {
	n, err := i.call(ctx, i.info)
	if err != nil {
		return info, err
	}
	view, ok := i.module.Memory().Read(i.out, n)
	if !ok {
		return info, errors.New("the info is outside the memory")
	}
	return info, json.Unmarshal(view, &info)
}

// View returns the engine with its current lists.
func (e *Engine) View() *View { return e.current.Load() }

// Check checks one address with the current lists; see View.Check.
func (e *Engine) Check(ctx context.Context, dst []byte, email string, flags Flags) (Facts, error) {
	return e.View().Check(ctx, dst, email, flags)
}

// Close closes the instances and frees the machine code.
func (e *Engine) Close(ctx context.Context) error { return e.program.close(ctx) }

// Size returns how many addresses can be checked at a time.
func (v *View) Size() int { return cap(v.pool.slots) }

// Info returns the versions of the engine, the lists and the model.
func (v *View) Info() Info { return v.info }

// Check checks one address and appends the result to dst. It blocks until an
// instance is free or ctx is done. It returns ErrTooLong for an address over 1 MiB.
func (v *View) Check(ctx context.Context, dst []byte, email string, flags Flags) (facts Facts, err error) {
	for again := true; again; {
		facts, again, err = v.check(ctx, dst, email, flags)
	}
	return facts, err
}

// check is Check with one instance. again is that of pool.release.
func (v *View) check(ctx context.Context, dst []byte, email string, flags Flags) (facts Facts, again bool, err error) {
	i, err := v.pool.acquire(ctx)
	if err != nil {
		return Facts{}, false, err
	}
	err = errUnfinished // until checkAddress returns
	defer func() { again = v.pool.release(ctx, i, err) }()
	facts, err = i.checkAddress(ctx, dst, email, flags)
	return facts, false, err
}

// errUnfinished marks an instance in which a panic ended the call.
var errUnfinished error = &trap{errors.New("the call did not return")}
