package pack

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/wasm/vectors/addresses"
)

// calls records which functions are called, by their index.
type calls []bool

// NewFunctionListener records every call of f.
func (c calls) NewFunctionListener(f api.FunctionDefinition) experimental.FunctionListener {
	return experimental.FunctionListenerFunc(
		func(context.Context, api.Module, api.FunctionDefinition, []uint64, experimental.StackIterator) {
			c[f.Index()] = true
		})
}

// called returns which of the packed module's count functions checks call. It is a
// sample: any other function that a check calls only costs time (package slim).
func called(ctx context.Context, packed []byte, count int) (calls, error) {
	c := make(calls, count)
	ctx = experimental.WithFunctionListenerFactory(ctx, c)
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(ctx)
	compiled, err := runtime.CompileModule(ctx, packed)
	if err != nil {
		return nil, fmt.Errorf("compile it: %w", err)
	}
	s := sample{ctx: ctx, runtime: runtime, compiled: compiled}
	s.run()
	return c, s.err
}

// sample calls the exports of an instance. It keeps the first error.
type sample struct {
	ctx      context.Context
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	api.Module
	in  uint32
	err error
}

// sampled is the number of generated addresses.
const sampled = 8000

// uncollected is how many addresses an instance checks with details. They allocate
// memory, and these do not lead to a collection: the collector is 300 KB of code, which
// one in thousands of checks with details runs.
const uncollected = 500

// run calls every export, and checks addresses of all kinds with all flags, alone and as
// many in a call.
func (s *sample) run() {
	s.start()
	s.exports()
	for n, email := range addresses.Generate(7, sampled) { // seed 7 has rarer ones than 1
		s.checkOne(email, uint64(n%2))
	}
	for part := range slices.Chunk(addresses.Generate(8, sampled), uncollected) {
		s.start()
		for n, email := range part {
			s.checkOne(email, uint64(2+n%2))
			s.checkMany(email)
		}
	}
	s.start()
	s.checkOne(strings.Repeat("a", 1<<20), 3)
	s.refuse(make([]byte, 100))
	s.pass(lists.Blob())
}

// start starts an instance.
func (s *sample) start() {
	if s.err != nil {
		return
	}
	s.Module, s.err = s.runtime.InstantiateModule(s.ctx, s.compiled, wazero.NewModuleConfig().WithName(""))
	s.in = uint32(s.call("addrspec_in_ptr"))
}

// exports calls every export without parameters.
func (s *sample) exports() {
	for name := range s.ExportedFunctionDefinitions() {
		if len(s.ExportedFunction(name).Definition().ParamTypes()) == 0 {
			s.call(name)
		}
	}
}

// checkOne checks one address.
func (s *sample) checkOne(email string, flags uint64) {
	s.write([]byte(email))
	s.call("addrspec_check", uint64(len(email)), flags)
}

// checkMany checks an address twice in one call, with and without reports.
func (s *sample) checkMany(email string) {
	record := append(binary.LittleEndian.AppendUint32(nil, uint32(len(email))), email...)
	records := append(record, record...)
	s.write(records)
	for _, flags := range []uint64{0, 6} {
		s.call("addrspec_check_many", uint64(len(records)), flags)
	}
}

// pass makes blob the lists.
func (s *sample) pass(blob []byte) {
	const piece = 1 << 20
	for part := range slices.Chunk(blob, piece) {
		s.write(part)
		s.call("addrspec_lists", uint64(len(part)))
	}
	s.call("addrspec_lists", 0)
}

// refuse passes lists that the module refuses.
func (s *sample) refuse(blob []byte) {
	if s.pass(blob); s.err != nil {
		s.err = nil
		return
	}
	s.err = errors.New("it accepts any lists")
}

// write writes contents to the input buffer.
func (s *sample) write(contents []byte) {
	if s.err == nil && !s.Memory().Write(s.in, contents) {
		s.err = errors.New("the input buffer is outside the memory")
	}
}

// call calls an export, which must not return an error.
func (s *sample) call(name string, params ...uint64) uint64 {
	if s.err != nil {
		return 0
	}
	f := s.ExportedFunction(name)
	if f == nil {
		s.err = fmt.Errorf("export %s is missing", name)
		return 0
	}
	result, err := f.Call(s.ctx, params...)
	if err == nil && int32(result[0]) < 0 {
		err = fmt.Errorf("the result is %d", int32(result[0]))
	}
	if err != nil {
		s.err = fmt.Errorf("call %s: %w", name, err)
		return 0
	}
	return result[0]
}
