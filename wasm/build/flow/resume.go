package flow

import "slices"

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
