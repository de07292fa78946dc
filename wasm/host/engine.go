package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
)

// Options shape an Engine; the zero value is good.
type Options struct {
	// Size is how many instances may run at a time, 1 to 2 MB each; 0 is one for
	// each processor Go uses.
	Size int
	// CacheDir keeps the compiled machine code from one start to the next,
	// which saves a second; empty keeps none.
	CacheDir string
	// Lists is a newer blob to check by instead of the module's own.
	Lists []byte
}

// Info says which versions answer.
type Info struct {
	Engine string `json:"engine"` // the checks
	Lists  string `json:"lists"`  // the blob of provider lists
	Model  string `json:"model"`  // the model that scores gibberish
}

// Engine checks addresses. It is safe for concurrent use.
type Engine struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	size     int
	current  atomic.Pointer[View]
	counters counters
}

// View is an Engine with the lists it had at one moment: a batch that holds a
// View gets answers that agree with one another.
type View struct {
	pool *pool
	info Info
}

// New compiles wasm and starts the instances.
func New(ctx context.Context, wasm []byte, o Options) (*Engine, error) {
	if o.Size <= 0 {
		o.Size = runtime.GOMAXPROCS(0)
	}
	rt, compiled, err := compile(ctx, wasm, o.CacheDir)
	if err != nil {
		return nil, err
	}
	e := &Engine{runtime: rt, compiled: compiled, size: o.Size}
	if err := e.SetLists(ctx, o.Lists); err != nil {
		rt.Close(ctx)
		return nil, err
	}
	return e, nil
}

// SetLists makes the engine check by blob, nil for the module's own lists. It
// starts instances with the new lists first and then swaps, so callers never
// wait and never see both; a blob that is refused changes nothing.
func (e *Engine) SetLists(ctx context.Context, blob []byte) error {
	view, err := e.newView(ctx, blob)
	if err != nil {
		return err
	}
	if old := e.current.Swap(view); old != nil {
		old.pool.retire(ctx)
	}
	return nil
}

func (e *Engine) newView(ctx context.Context, blob []byte) (*View, error) {
	start := func(ctx context.Context) (*instance, error) {
		return instantiate(ctx, e.runtime, e.compiled, blob)
	}
	p, err := newPool(ctx, e.size, &e.counters, start)
	if err != nil {
		return nil, err
	}
	i, err := p.lend(ctx)
	if err != nil {
		return nil, err
	}
	info, err := i.readInfo(ctx)
	p.giveBack(ctx, i, err)
	if err != nil {
		p.retire(ctx)
		return nil, err
	}
	return &View{pool: p, info: info}, nil
}

func (i *instance) readInfo(ctx context.Context) (info Info, err error) {
	n, err := i.call(ctx, i.info)
	if err != nil {
		return info, err
	}
	view, ok := i.module.Memory().Read(i.out, n)
	if !ok {
		return info, fmt.Errorf("the module's info lies outside its memory")
	}
	return info, json.Unmarshal(view, &info)
}

// View is the engine as it is now.
func (e *Engine) View() *View { return e.current.Load() }

// Check checks one address. The answer's JSON is appended to dst.
func (e *Engine) Check(ctx context.Context, dst []byte, email string, flags Flags) (Answer, error) {
	return e.View().Check(ctx, dst, email, flags)
}

// Close ends the instances and frees the machine code.
func (e *Engine) Close(ctx context.Context) error { return e.runtime.Close(ctx) }

// Info says which versions answer.
func (v *View) Info() Info { return v.info }

// Check checks one address; it waits for a free instance as long as ctx lets
// it. The answer's JSON is appended to dst.
func (v *View) Check(ctx context.Context, dst []byte, email string, flags Flags) (answer Answer, err error) {
	i, err := v.pool.lend(ctx)
	if err != nil {
		return Answer{}, err
	}
	err = errUnfinished // unless the check comes to its end
	defer func() { v.pool.giveBack(ctx, i, err) }()
	answer, err = i.checkAddress(ctx, dst, email, flags)
	return answer, err
}

// errUnfinished goes with an instance whose call a panic cut short.
var errUnfinished error = &trap{errors.New("the call did not come to its end")}
