// Package host runs addrspec.wasm in a Go program, through wazero: pure Go,
// no cgo, compiled once to machine code.
//
//	engine, err := host.New(ctx, wasm, host.Options{})
//	answer, err := engine.Check(ctx, nil, "jane@example.org", 0)
//	fmt.Println(string(answer.JSON))
//
// An Engine holds a pool of instances of the module, for an instance serves
// one caller at a time. An instance that trapped is closed and another takes
// its place. Newer lists are taken over while callers go on: see
// Engine.SetLists.
//
// The package knows the module's interface (wasm/ABI.md) and nothing of what
// the module holds.
package host
