package flow

// graph is the basic blocks of a function and where they lead to. Node 0 is the first
// until entries are added.
type graph struct {
	nodes []node
	root  int

	order []int   // the nodes that root leads to, in reverse postorder
	place []int   // place of each in order; -1 if root does not lead to it
	idom  []int   // the node that dominates each immediately
	from  [][]int // the nodes that lead to each
}

// node is a basic block or, with a table, one of the entries and dispatches of
// resume.go.
type node struct {
	block *block
	to    []int        // of branches: the taken node first
	table map[int]int  // node by number; nil for a basic block
	entry bool         // the function may be entered here
	loop  map[int]bool // the nodes of the loop that begins here; nil if none does
}

// newGraph returns the graph of f without the entries behind calls.
func newGraph(f *function) *graph {
	g := &graph{nodes: make([]node, len(f.blocks))}
	for i := range f.blocks {
		b := &f.blocks[i]
		n := node{block: b}
		if b.end == jumps || b.end == branches {
			n.to = append(n.to, f.segments[b.taken].first)
		}
		if b.end == falls || b.end == branches {
			n.to = append(n.to, i+1)
		}
		g.nodes[i] = n
	}
	for _, s := range f.segments {
		g.nodes[s.first].entry = s.external
	}
	return g
}

// isBack reports whether the edge from a to b leads to the start of a loop.
func (g *graph) isBack(a, b int) bool { return g.place[b] <= g.place[a] }

// findLoops sets the loops. It returns an error if one has a second entry.
func (g *graph) findLoops() error {
	for _, a := range g.order {
		for _, b := range g.nodes[a].to {
			if !g.isBack(a, b) {
				continue
			}
			if !g.dominates(b, a) {
				return errForm
			}
			g.addToLoop(b, a)
		}
	}
	return nil
}

// addToLoop adds to the loop that begins at head what leads to last without head.
func (g *graph) addToLoop(head, last int) {
	loop := g.nodes[head].loop
	if loop == nil {
		loop = map[int]bool{head: true}
		g.nodes[head].loop = loop
	}
	for rest := []int{last}; len(rest) > 0; {
		a := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		if !loop[a] {
			loop[a] = true
			rest = append(rest, g.from[a]...)
		}
	}
}
