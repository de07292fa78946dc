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
// nothing else of the module. Package module has the bytes to run. Start reading
// in engine.go.
package host
