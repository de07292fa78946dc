package flow

import "slices"

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

// node is a basic block or, with a table, one of the entries and dispatches where
// control resumes.
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

// secondEntry returns an edge from a back to b, which does not dominate a, so the cycle
// of both has several entries.
func (g *graph) secondEntry() (a, b int, found bool) {
	for _, a := range g.order {
		for _, b := range g.nodes[a].to {
			if g.isBack(a, b) && !g.dominates(b, a) {
				return a, b, true
			}
		}
	}
	return 0, 0, false
}

// findLoops sets the loops, none of which has a second entry: those of a node are what
// leads back to it without it.
func (g *graph) findLoops() {
	for i := range g.nodes {
		g.nodes[i].loop = nil
	}
	for _, last := range g.order {
		for _, head := range g.nodes[last].to {
			if !g.isBack(last, head) {
				continue
			}
			loop := g.nodes[head].loop
			if loop == nil {
				loop = map[int]bool{head: true}
				g.nodes[head].loop = loop
			}
			for rest := []int{last}; len(rest) > 0; {
				n := rest[len(rest)-1]
				rest = rest[:len(rest)-1]
				if !loop[n] {
					loop[n] = true
					rest = append(rest, g.from[n]...)
				}
			}
		}
	}
}

// analyse sets the order, the dominators and the predecessors of the nodes.
func (g *graph) analyse() {
	g.order = g.order[:0]
	g.place = make([]int, len(g.nodes))
	for i := range g.place {
		g.place[i] = -1
	}
	g.visit(g.root)
	slices.Reverse(g.order)
	g.from = make([][]int, len(g.nodes))
	for i, n := range g.order {
		g.place[n] = i
		for _, to := range g.nodes[n].to {
			g.from[to] = append(g.from[to], n)
		}
	}
	g.dominate()
}

// visit appends to order the nodes that n leads to, each after those that it leads to.
func (g *graph) visit(n int) {
	g.place[n] = 0
	for _, to := range g.nodes[n].to {
		if g.place[to] < 0 {
			g.visit(to)
		}
	}
	g.order = append(g.order, n)
}

// dominate sets the dominators, by Cooper, Harvey and Kennedy, "A simple, fast
// dominance algorithm".
func (g *graph) dominate() {
	g.idom = make([]int, len(g.nodes))
	for i := range g.idom {
		g.idom[i] = -1
	}
	g.idom[g.root] = g.root
	for changed := true; changed; {
		changed = false
		for _, n := range g.order[1:] {
			dominator := -1
			for _, p := range g.from[n] {
				if g.idom[p] >= 0 {
					dominator = g.common(p, dominator)
				}
			}
			if g.idom[n] != dominator {
				g.idom[n], changed = dominator, true
			}
		}
	}
}

// common returns the nearest node that dominates a and b; a if b is -1.
func (g *graph) common(a, b int) int {
	if b < 0 {
		return a
	}
	for a != b {
		if g.place[a] > g.place[b] {
			a = g.idom[a]
		} else {
			b = g.idom[b]
		}
	}
	return a
}

// dominates reports whether every way from root to b leads through a.
func (g *graph) dominates(a, b int) bool {
	for b != a && b != g.root {
		b = g.idom[b]
	}
	return b == a
}
