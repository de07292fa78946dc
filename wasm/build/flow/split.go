package flow

import (
	"slices"
)

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

// addEntries adds the entries behind calls to the graph, whose loops are known. An entry
// inside a loop would be a second entry of the loop. So the way to it leads through a
// node before the start of the loop, its dispatch, which leads to the entry if the
// function was entered there; and so on for the loops around that one.
func (g *graph) addEntries(f *function) {
	entries := map[int]int{} // node by number
	for number, s := range f.table {
		if n := f.segments[s].first; f.segments[s].external && n != 0 {
			entries[number] = n
		}
	}
	if len(entries) == 0 {
		return
	}
	heads := g.addDispatches()
	root := g.add(node{table: map[int]int{}})
	for number, n := range entries {
		at := root
		for _, head := range g.loopsAround(n) {
			if at != heads[head] {
				g.nodes[at].table[number] = heads[head]
			}
			at = heads[head]
		}
		if at != n {
			g.nodes[at].table[number] = n
		}
	}
	first := 0
	if d, ok := heads[0]; ok {
		first = d
	}
	g.nodes[root].to = []int{first}
	g.root = root
	g.lead()
}

func (g *graph) add(n node) int {
	g.nodes = append(g.nodes, n)
	return len(g.nodes) - 1
}

// addDispatches adds a dispatch before each loop that has an entry behind its start. It
// returns by the start of each loop where to enter it.
func (g *graph) addDispatches() map[int]int {
	heads := map[int]int{}
	for head := range len(g.nodes) {
		loop := g.nodes[head].loop
		if loop == nil {
			continue
		}
		heads[head] = head
		for n := range loop {
			if n != head && g.nodes[n].entry {
				heads[head] = g.add(node{table: map[int]int{}, to: []int{head}})
				break
			}
		}
	}
	for n := range g.nodes {
		for i, to := range g.nodes[n].to {
			if d, ok := heads[to]; ok && n != d {
				g.nodes[n].to[i] = d
			}
		}
	}
	return heads
}

// loopsAround returns the starts of the loops that n is in, the outermost first.
func (g *graph) loopsAround(n int) (heads []int) {
	for head := range g.nodes {
		if g.nodes[head].loop[n] {
			heads = append(heads, head)
		}
	}
	slices.SortFunc(heads, func(a, b int) int { return len(g.nodes[b].loop) - len(g.nodes[a].loop) })
	return heads
}

// lead makes each entry and dispatch lead to the nodes of its table.
func (g *graph) lead() {
	for i := range g.nodes {
		n := &g.nodes[i]
		for _, number := range numbers(n.table) {
			if to := n.table[number]; !slices.Contains(n.to, to) {
				n.to = append(n.to, to)
			}
		}
	}
}

// numbers returns the keys of table in order.
func numbers(table map[int]int) (list []int) {
	for number := range table {
		list = append(list, number)
	}
	slices.Sort(list)
	return list
}

// dispatches reports whether a loop has a dispatch.
func (g *graph) dispatches() bool {
	for i := range g.nodes {
		if g.nodes[i].table != nil && i != g.root {
			return true
		}
	}
	return false
}
