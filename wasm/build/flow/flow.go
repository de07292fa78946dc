// Package flow rewrites the functions that the Go compiler made so that their
// branches are those of WebAssembly.
//
// The compiler makes one loop of a function, with a br_table over all its basic
// blocks at the start, and every jump writes the number of a block to a local
// variable and returns to that table. A goroutine that was switched away continues
// in a function in the same way, behind the call that switched. An engine can
// neither predict these jumps nor keep values in registers across them.
//
// Function reads the basic blocks and their jumps (read.go), finds loops by
// dominators (graph.go) and writes the same blocks with block, loop and br, as in
// Ramsey, "Beyond Relooper: recursive translation of unstructured control flow to
// structured control flow" (ICFP 2022). The entries behind calls remain: a function
// that is entered there goes through a br_table at its start, and into a loop through
// another one at the start of that loop (split.go).
//
// Then it computes the address in each pointer once (memory.go), and lets no way lead
// on behind calls that never return (read.go), for which it needs the names of
// functions. It changes no other instruction. A function that does not have the form
// above, such as assembly of the runtime, remains as it is.
package flow

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Function returns the code of a function, with its declarations of local variables, with
// structured branches; or as it is if it does not have the form of the compiler. names
// are those of the module's functions, as far as they are known.
func Function(code []byte, names map[uint32]string) []byte {
	f, err := read(code, names)
	if err != nil {
		return code
	}
	g := newGraph(f)
	if g.makeReducible(len(code)) != nil {
		return code
	}
	g.addEntries(f)
	g.analyse()
	if _, _, found := g.secondEntry(); found {
		return code
	}
	g.findLoops()
	return shareAddresses(write(f, g))
}

// writer writes a graph. labels has what a branch of each depth leads to, the outermost
// first: a node, or nowhere.
type writer struct {
	*graph
	out      []byte
	labels   []int
	children [][]int // by node, what it dominates immediately and has a label
	resumed  uint64  // local variable with the number of the entry until it is reached; 0 if none
}

const nowhere = -1

// write returns the code of f with the nodes of g.
func write(f *function, g *graph) []byte {
	w := &writer{graph: g, children: make([][]int, len(g.nodes))}
	for _, n := range g.order {
		if n != g.root && g.isJoin(n) {
			w.children[g.idom[n]] = append(w.children[g.idom[n]], n)
		}
	}
	w.out = append(w.out, f.start...)
	for n := range g.nodes {
		if n != g.root && g.nodes[n].table != nil {
			w.resumed = f.count
			w.out = append(addLocals(f.start[:f.locals], 1), f.start[f.locals:]...)
			break
		}
	}
	if !f.unwinds {
		w.tree(g.root, nowhere)
		return append(w.out, opUnreachable, opEnd)
	}
	w.nested(opBlock, nowhere, func() { w.tree(g.root, nowhere) })
	return append(w.out, opI32Const, 1, opEnd)
}

// isJoin reports whether n needs a label: several ways lead to it, or a table.
func (g *graph) isJoin(n int) bool {
	ways := 0
	for _, from := range g.from[n] {
		if g.nodes[from].table != nil {
			return true
		}
		if !g.isBack(from, n) {
			ways++
		}
	}
	return ways > 1
}

func (w *writer) emit(code ...byte) { w.out = append(w.out, code...) }

func (w *writer) number(op byte, n uint64) { w.out = binary.AppendUvarint(append(w.out, op), n) }

// nested writes a block or a loop with what inside writes.
func (w *writer) nested(op byte, label int, inside func()) {
	w.emit(op, noResult)
	w.labels = append(w.labels, label)
	inside()
	w.labels = w.labels[:len(w.labels)-1]
	w.emit(opEnd)
}

// tree writes n and the nodes that it dominates. The end of that code leads to next.
func (w *writer) tree(n, next int) {
	if w.nodes[n].loop != nil {
		w.nested(opLoop, n, func() { w.joins(n, w.children[n], next) })
		return
	}
	w.joins(n, w.children[n], next)
}

// joins writes n and behind it the last of joins and what they dominate.
func (w *writer) joins(n int, joins []int, next int) {
	if len(joins) == 0 {
		w.node(n, next)
		return
	}
	last := joins[len(joins)-1]
	w.nested(opBlock, last, func() { w.joins(n, joins[:len(joins)-1], last) })
	w.tree(last, next)
}

// node writes n and its branches.
func (w *writer) node(n, next int) {
	x := &w.nodes[n]
	if x.table != nil {
		w.dispatch(n)
		return
	}
	if x.entry && w.resumed != 0 {
		w.emit(opI32Const, 0)
		w.number(opLocalSet, w.resumed)
	}
	w.code(x.block)
	switch len(x.to) {
	case 1:
		w.branch(n, x.to[0], next)
	case 2:
		w.conditional(n, x.to[0], x.to[1], next)
	}
}

// code writes the instructions of b with the depths of its branches to the exit that
// unwinds, which is the outermost block.
func (w *writer) code(b *block) {
	at := 0
	for _, u := range b.unwinds {
		w.emit(b.code[at:u.at]...)
		if u.always {
			w.out = append(w.out[:len(w.out)-1-len(afterCall)], opBr)
		}
		w.out = binary.AppendUvarint(w.out, uint64(len(w.labels)-1+u.open))
		at = u.at + u.size
	}
	w.emit(b.code[at:]...)
}

// hasLabel reports whether a branch from n to leads to a label; else the code of to
// follows.
func (w *writer) hasLabel(n, to int) bool { return w.isBack(n, to) || w.isJoin(to) }

// depth returns the depth of the label of n.
func (w *writer) depth(n int) uint64 {
	for i := len(w.labels) - 1; i >= 0; i-- {
		if w.labels[i] == n {
			return uint64(len(w.labels) - 1 - i)
		}
	}
	panic("flow: no label")
}

// branch writes how to get from n to a node.
func (w *writer) branch(n, to, next int) {
	switch {
	case !w.hasLabel(n, to):
		w.tree(to, next)
	case to != next || w.isBack(n, to):
		w.number(opBr, w.depth(to))
	}
}

// conditional writes how to get from n to taken if the value on the stack is not 0,
// else to other.
func (w *writer) conditional(n, taken, other, next int) {
	switch {
	case w.hasLabel(n, taken):
		w.number(opBrIf, w.depth(taken))
		w.branch(n, other, next)
	case w.hasLabel(n, other) && (other != next || w.isBack(n, other)):
		w.emit(opI32Eqz)
		w.number(opBrIf, w.depth(other))
		w.branch(n, taken, next)
	case w.hasLabel(n, other):
		w.nested(opIf, nowhere, func() { w.tree(taken, next) })
	default:
		w.nested(opIf, nowhere, func() { w.tree(taken, nowhere) })
		w.tree(other, next)
	}
}

// dispatch writes an entry or a dispatch, whose br_table follows a test for 0.
func (w *writer) dispatch(n int) {
	x := &w.nodes[n]
	number := []byte{opLocalGet, 0}
	if n != w.root {
		number = binary.AppendUvarint([]byte{opLocalGet}, w.resumed)
	} else if w.resumed != 0 {
		w.emit(number...)
		w.number(opLocalSet, w.resumed)
	}
	w.emit(number...)
	w.emit(opI32Eqz)
	w.number(opBrIf, w.depth(x.to[0]))
	w.emit(number...)
	// A number without an entry gets that before it. Those before the first entry are of the
	// start: goexit is entered at 1, behind a call that was never made.
	last := slices.Max(slices.Collect(maps.Keys(x.table)))
	w.number(opBrTable, uint64(last))
	to := x.to[0]
	for number := range last + 1 {
		if n, ok := x.table[number]; ok {
			to = n
		}
		w.out = binary.AppendUvarint(w.out, w.depth(to))
	}
}
