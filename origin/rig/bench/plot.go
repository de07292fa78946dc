package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// A plot shows how a cost grows. The axis of x is logarithmic, since what grows does so
// by factors; that of y begins at 0.
type plot struct {
	Name  string `json:"name"` // of the file
	Title string `json:"title"`
	X     string `json:"x"` // with its unit
	Y     string `json:"y"`
	Lines []line `json:"lines"`
}

// A line is a line of a plot; its points are in order of x.
type line struct {
	Name   string  `json:"name"`
	Points []point `json:"points"`
}

// A point is a measurement.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// The picture in pixels. The margins have room for numbers and labels.
const (
	plotWidth, plotHeight = 640, 400
	plotLeft, plotRight   = 70, 120
	plotTop, plotBottom   = 40, 60
)

// plotStyle has colours that can be read on white and on black, and to people who see
// no difference between red and green.
const plotStyle = `<style>
text { font: 13px sans-serif; fill: #333 }
.title { font-weight: bold }
.grid { stroke: #8884; }
.line { fill: none; stroke-width: 2 }
.c0 { stroke: #0a6ebd; fill: #0a6ebd } .c1 { stroke: #c25700; fill: #c25700 }
.line.c0, .line.c1 { fill: none }
text.c0, text.c1 { stroke: none }
@media (prefers-color-scheme: dark) {
text { fill: #ddd }
.c0 { stroke: #5db2f5; fill: #5db2f5 } .c1 { stroke: #ff9d4d; fill: #ff9d4d }
}
</style>
`

// svg returns the plot as a picture.
func (p plot) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, "<title>%s</title>\n%s", escape(p.Title), plotStyle)
	text(&b, plotLeft, 20, "start", "title", p.Title)
	text(&b, (plotLeft+plotWidth-plotRight)/2, plotHeight-15, "middle", "", p.X)
	fmt.Fprintf(&b, `<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (plotTop+plotHeight-plotBottom)/2, escape(p.Y))
	s := p.scale()
	s.drawGrid(&b)
	for n, l := range p.Lines {
		s.draw(&b, l, n%2)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func text(b *strings.Builder, x, y float64, anchor, class, words string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`+"\n", x, y, anchor, class, escape(words))
}

func escape(words string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(words)) // a Builder takes everything
	return b.String()
}

// A scale maps figures to pixels.
type scale struct {
	xs          []float64 // the numbers below the axis
	first, last float64   // logarithms of x
	step, top   float64   // of y
}

func (p plot) scale() (s scale) {
	highest := 0.0
	for _, l := range p.Lines {
		for _, at := range l.Points {
			highest = max(highest, at.Y)
			s.xs = append(s.xs, at.X)
		}
	}
	if len(s.xs) > 0 {
		s.first, s.last = math.Log(s.xs[0]), math.Log(s.xs[0])
	}
	for _, x := range s.xs {
		s.first, s.last = min(s.first, math.Log(x)), max(s.last, math.Log(x))
	}
	s.step = niceStep(highest)
	s.top = s.step * max(1, math.Ceil(highest/s.step))
	return s
}

// niceStep returns 1, 2 or 5 times a power of ten, of which about five make highest.
func niceStep(highest float64) float64 {
	if highest <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(highest/5)))
	for _, factor := range []float64{1, 2, 5} {
		if highest/(factor*power) <= 6 {
			return factor * power
		}
	}
	return 10 * power
}

func (s scale) x(x float64) float64 {
	if s.last == s.first {
		return plotLeft
	}
	return plotLeft + (math.Log(x)-s.first)/(s.last-s.first)*(plotWidth-plotLeft-plotRight)
}

func (s scale) y(y float64) float64 {
	return plotHeight - plotBottom - y/s.top*(plotHeight-plotTop-plotBottom)
}

// drawGrid draws a line for each step of y, and the numbers of both axes.
func (s scale) drawGrid(b *strings.Builder) {
	for n := 0; float64(n)*s.step <= s.top*1.001; n++ {
		y := s.y(float64(n) * s.step)
		fmt.Fprintf(b, `<path class="grid" d="M%d %.1fH%d"/>`+"\n", plotLeft, y, plotWidth-plotRight)
		text(b, plotLeft-8, y+4, "end", "", number(float64(n)*s.step))
	}
	drawn := map[float64]bool{}
	for _, x := range s.xs {
		if !drawn[x] {
			text(b, s.x(x), plotHeight-plotBottom+20, "middle", "", number(x))
			drawn[x] = true
		}
	}
}

// draw draws a line with its points, and its name at the end.
func (s scale) draw(b *strings.Builder, l line, colour int) {
	var path []string
	for _, at := range l.Points {
		x, y := s.x(at.X), s.y(at.Y)
		path = append(path, fmt.Sprintf("%.1f,%.1f", x, y))
		fmt.Fprintf(b, `<circle class="c%d" cx="%.1f" cy="%.1f" r="3"/>`+"\n", colour, x, y)
	}
	fmt.Fprintf(b, `<polyline class="line c%d" points="%s"/>`+"\n", colour, strings.Join(path, " "))
	if len(l.Points) > 0 {
		end := l.Points[len(l.Points)-1]
		text(b, s.x(end.X)+8, s.y(end.Y)+4, "start", fmt.Sprintf("c%d", colour), l.Name)
	}
}

// writePlots writes the pictures to a directory.
func writePlots(dir string, plots []plot) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, p := range plots {
		if err := os.WriteFile(filepath.Join(dir, p.Name+".svg"), []byte(p.svg()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

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
