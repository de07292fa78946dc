package flow

import "slices"

// makeReducible copies blocks until each loop has one entry, and finds the loops. The
// compiler makes loops with a second entry where it knows the first test of a loop: the
// copy of the test, on the way into the loop, leads to the same places. It returns an
// error if the copies would be too large.
func (g *graph) makeReducible(size int) error {
	room := max(256, size/3) // bytes of copies
	for {
		g.analyse()
		a, b, found := g.secondEntry()
		if !found {
			return g.findLoops()
		}
		cycle := g.cycle(a, b)
		copied := g.cheapestCopies(cycle)
		if room -= g.bytes(copied); room < 0 {
			return errForm
		}
		g.copyOutside(copied, cycle)
	}
}

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

// cycle returns the nodes that a and b lead to and that lead to both, without a way
// through the node that dominates both.
func (g *graph) cycle(a, b int) map[int]bool {
	dominator := g.common(a, b)
	after := g.reach(b, dominator, func(n int) []int { return g.nodes[n].to })
	before := g.reach(b, dominator, func(n int) []int { return g.from[n] })
	for n := range after {
		if !before[n] {
			delete(after, n)
		}
	}
	return after
}

// reach returns the nodes on the ways from n that next leads to, not through limit.
func (g *graph) reach(n, limit int, next func(int) []int) map[int]bool {
	reached := map[int]bool{n: true}
	for rest := []int{n}; len(rest) > 0; {
		n, rest = rest[len(rest)-1], rest[:len(rest)-1]
		for _, to := range next(n) {
			if to != limit && !reached[to] {
				reached[to] = true
				rest = append(rest, to)
			}
		}
	}
	return reached
}

// cheapestCopies returns the nodes of cycle to copy so that it has one entry: those that
// the other entries lead to, for the entry with the fewest bytes of them.
func (g *graph) cheapestCopies(cycle map[int]bool) (best map[int]bool) {
	entries := g.entries(cycle)
	for _, head := range entries {
		copied := map[int]bool{}
		for _, entry := range entries {
			if entry == head {
				continue
			}
			for n := range g.reach(entry, head, g.within(cycle)) {
				copied[n] = true
			}
		}
		if best == nil || g.bytes(copied) < g.bytes(best) {
			best = copied
		}
	}
	return best
}

// within returns a function that returns the nodes of set that a node leads to.
func (g *graph) within(set map[int]bool) func(int) []int {
	return func(n int) (list []int) {
		for _, to := range g.nodes[n].to {
			if set[to] {
				list = append(list, to)
			}
		}
		return list
	}
}

// entries returns the nodes of cycle that others lead to, in order.
func (g *graph) entries(cycle map[int]bool) (list []int) {
	for _, n := range g.order {
		if cycle[n] && slices.ContainsFunc(g.from[n], func(from int) bool { return !cycle[from] }) {
			list = append(list, n)
		}
	}
	return list
}

// bytes returns about how many bytes the nodes have.
func (g *graph) bytes(set map[int]bool) (size int) {
	for n := range set {
		size += len(g.nodes[n].block.code) + 4
	}
	return size
}

// copyOutside copies nodes of cycle for the ways to them from outside.
func (g *graph) copyOutside(copied, cycle map[int]bool) {
	copies := map[int]int{}
	for _, n := range g.order {
		if copied[n] {
			copies[n] = g.add(node{block: g.nodes[n].block, to: slices.Clone(g.nodes[n].to)})
		}
	}
	for n := range g.nodes {
		if cycle[n] {
			continue
		}
		for i, to := range g.nodes[n].to {
			if c, ok := copies[to]; ok {
				g.nodes[n].to[i] = c
			}
		}
	}
}
