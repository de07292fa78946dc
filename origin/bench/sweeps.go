package main

import "context"

// A sweep measures what a plot shows: a cost at some sizes, of ours and of a peer.
type sweep struct {
	plot
	sizes []int
	names [2]string // of the lines; the second is empty if there is no peer

	measure func(ctx context.Context, l *lab, size int) (pair, error)
}

// sweeps are all plots. Most show processor time, which other work on the machine
// changes least.
func sweeps() []sweep {
	return []sweep{
		{plot{Name: "concurrency", Title: "GET, SQLite: cost against concurrency", X: "connections", Y: "processor time, µs a request"},
			[]int{1, 8, 32, 128, 512}, [2]string{"addrspec", "bare net/http"}, sweepConnections},
		{plot{Name: "batch", Title: "Batch, SQLite, 32 connections: cost against size", X: "addresses a batch", Y: "processor time, µs an address"},
			[]int{1, 4, 16, 64}, [2]string{"addrspec"}, sweepBatch},
		{plot{Name: "lists", Title: "Check in wazero: cost against lists", X: "published domains, % of those in the module", Y: "time, ns a check"},
			[]int{10, 20, 50, 100, 150}, [2]string{"addrspec"}, sweepLists},
		{plot{Name: "accounts", Title: "GET, SQLite, 32 connections: cost against accounts in use", X: "accounts", Y: "processor time, µs a request"},
			[]int{1, 10, 100, 1000}, [2]string{"addrspec"}, sweepAccounts},
	}
}

func sweepConnections(ctx context.Context, l *lab, connections int) (pair, error) {
	p, err := l.besideBare(ctx, databases[0], load{url: single, connections: connections}, 1)
	return pair{Ours: p.Used, Peer: p.PeerUsed}, err
}

func sweepBatch(ctx context.Context, l *lab, size int) (pair, error) {
	s, err := l.sqlite()
	if err != nil {
		return pair{}, err
	}
	c, err := l.costOf(ctx, s, load{url: batch, body: batchBody(size, ""), connections: 32, waits: true})
	return pair{Ours: c.used / float64(size)}, err
}

func sweepLists(ctx context.Context, l *lab, percent int) (pair, error) {
	engine, err := l.scaledModule(ctx, percent/10)
	if err != nil {
		return pair{}, err
	}
	defer engine.Close(ctx)
	call, err := wazeroCall(engine, moduleAddress)
	if err != nil {
		return pair{}, err
	}
	return beside(l.span/4, call, func() {}), nil
}

func sweepAccounts(ctx context.Context, l *lab, accounts int) (pair, error) {
	p, err := l.population()
	if err != nil {
		return pair{}, err
	}
	c, err := l.costOf(ctx, p.service, load{url: single, keys: p.firstKeys[:accounts], connections: 32})
	return pair{Ours: c.used}, err
}

// sweepRuns is how often each size is measured; the plot has the medians.
const sweepRuns = 3

// measurePlots measures the sweeps. One that fails has no plot, and progress says why.
func measurePlots(ctx context.Context, l *lab, to progress) (plots []plot) {
	for _, s := range sweeps() {
		if ctx.Err() != nil {
			break
		}
		to.show("plot: %s", s.Name)
		if err := s.run(ctx, l); err != nil {
			to.note("plot %s: %v", s.Name, err)
			continue
		}
		plots = append(plots, s.plot)
	}
	to.show("")
	return plots
}

// run measures all sizes, one after another, in each run.
func (s *sweep) run(ctx context.Context, l *lab) error {
	figures := make([][]pair, len(s.sizes))
	for range sweepRuns {
		for n, size := range s.sizes {
			p, err := s.measure(ctx, l, size)
			if err != nil {
				return err
			}
			figures[n] = append(figures[n], p)
		}
	}
	s.addLines(figures)
	return nil
}

func (s *sweep) addLines(figures [][]pair) {
	for n, name := range s.names {
		if name == "" {
			continue
		}
		l := line{Name: name}
		for at, pairs := range figures {
			l.Points = append(l.Points, point{float64(s.sizes[at]), median(each(pairs, func(p pair) float64 { return p.figure()[n] }))})
		}
		s.Lines = append(s.Lines, l)
	}
}
