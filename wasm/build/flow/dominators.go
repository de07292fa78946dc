package flow

// analyse sets the order, the dominators and the predecessors of the nodes.
func (g *graph) analyse() {
	g.order = g.order[:0]
	g.place = make([]int, len(g.nodes))
	for i := range g.place {
		g.place[i] = -1
	}
	g.postorder()
	for i, j := 0, len(g.order)-1; i < j; i, j = i+1, j-1 {
		g.order[i], g.order[j] = g.order[j], g.order[i]
	}
	g.from = make([][]int, len(g.nodes))
	for i, n := range g.order {
		g.place[n] = i
		for _, to := range g.nodes[n].to {
			g.from[to] = append(g.from[to], n)
		}
	}
	g.dominate()
}

// postorder appends to order the nodes that root leads to, each after those that it
// leads to.
func (g *graph) postorder() {
	type visit struct{ node, next int }
	stack := []visit{{g.root, 0}}
	g.place[g.root] = 0
	for len(stack) > 0 {
		v := &stack[len(stack)-1]
		to := g.nodes[v.node].to
		if v.next == len(to) {
			g.order = append(g.order, v.node)
			stack = stack[:len(stack)-1]
			continue
		}
		v.next++
		if n := to[v.next-1]; g.place[n] < 0 {
			g.place[n] = 0
			stack = append(stack, visit{n, 0})
		}
	}
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
