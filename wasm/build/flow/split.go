package flow

import (
	"maps"
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
			g.findLoops()
			return nil
		}
		cycle := g.cycle(a, b)
		copied := g.cheapestCopies(cycle)
		room -= g.bytes(copied)
		if room < 0 {
			return errForm
		}
		g.copyOutside(copied, cycle)
	}
}

// cycle returns the nodes that a and b lead to and that lead to both, without a way
// through the node that dominates both.
func (g *graph) cycle(a, b int) map[int]bool {
	dominator := g.common(a, b)
	after := g.reach(b, dominator, func(n int) []int { return g.nodes[n].to })
	before := g.reach(b, dominator, func(n int) []int { return g.from[n] })
	maps.DeleteFunc(after, func(n int, _ bool) bool { return !before[n] })
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
	var entries []int // the nodes of cycle that others lead to
	for _, n := range g.order {
		if cycle[n] && slices.ContainsFunc(g.from[n], func(from int) bool { return !cycle[from] }) {
			entries = append(entries, n)
		}
	}
	within := func(n int) []int {
		return slices.DeleteFunc(slices.Clone(g.nodes[n].to), func(to int) bool { return !cycle[to] })
	}
	for _, head := range entries {
		copied := map[int]bool{}
		for _, entry := range entries {
			if entry != head {
				maps.Copy(copied, g.reach(entry, head, within))
			}
		}
		if best == nil || g.bytes(copied) < g.bytes(best) {
			best = copied
		}
	}
	return best
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
		var around []int // the starts of the loops that n is in, the outermost first
		for head := range g.nodes {
			if g.nodes[head].loop[n] {
				around = append(around, head)
			}
		}
		slices.SortFunc(around, func(a, b int) int { return len(g.nodes[b].loop) - len(g.nodes[a].loop) })
		for _, head := range around {
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
	for i := range g.nodes {
		n := &g.nodes[i]
		for _, number := range slices.Sorted(maps.Keys(n.table)) {
			if to := n.table[number]; !slices.Contains(n.to, to) {
				n.to = append(n.to, to)
			}
		}
	}
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
