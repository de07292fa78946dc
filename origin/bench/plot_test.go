package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var somePlot = plot{Name: "some", Title: `a < b & "c"`, X: "connections", Y: "µs", Lines: []line{
	{"ours", []point{{1, 30}, {8, 20}, {512, 90}}}, {"<peer>", []point{{1, 10}, {512, 0}}},
}}

// A plot is well-formed XML, has its labels, and draws all within the picture.
func TestSVG(t *testing.T) {
	for name, p := range map[string]plot{
		"usual": somePlot, "empty": {}, "one point": {Lines: []line{{"a", []point{{1, 1}}}}}, "zeros": {Lines: []line{{"a", []point{{1, 0}, {2, 0}}}}},
	} {
		svg := p.svg()
		d := xml.NewDecoder(strings.NewReader(svg))
		var words strings.Builder
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
			if text, ok := token.(xml.CharData); ok {
				words.Write(text)
			}
		}
		for _, label := range []string{p.Title, p.X, p.Y} {
			require.Contains(t, words.String(), label, name)
		}
		for _, c := range regexp.MustCompile(`c([xy])="([^"]*)"`).FindAllStringSubmatch(svg, -1) {
			at, err := strconv.ParseFloat(c[2], 64)
			require.NoError(t, err, name)
			require.GreaterOrEqual(t, at, 0.0, name)
			require.LessOrEqual(t, at, map[string]float64{"x": plotWidth, "y": plotHeight}[c[1]], name)
		}
	}
}

// A factor of eight is as wide anywhere, and a higher figure is drawn higher.
func TestScale(t *testing.T) {
	s := somePlot.scale()
	require.InDelta(t, plotLeft, s.x(1), 1e-9)
	require.InDelta(t, plotWidth-plotRight, s.x(512), 1e-9)
	require.InDelta(t, s.x(8)-s.x(1), s.x(64)-s.x(8), 1e-9)
	require.InDelta(t, plotHeight-plotBottom, s.y(0), 1e-9)
	require.Less(t, s.y(90), s.y(30))
	require.InDelta(t, 100, s.top, 1e-9)
}

func TestNiceStep(t *testing.T) {
	for highest, want := range map[float64]float64{0: 1, 1: 0.2, 5: 1, 90: 20, 1234: 500, 999: 200} {
		require.InDelta(t, want, niceStep(highest), want*1e-9, highest)
	}
	for highest := 1e-9; highest < 1e12; highest *= 1.7 {
		steps := math.Ceil(highest / niceStep(highest))
		require.GreaterOrEqual(t, steps, 2.0, highest)
		require.LessOrEqual(t, steps, 6.0, highest)
	}
}

func TestWritePlots(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	require.NoError(t, writePlots(dir, []plot{somePlot}))
	data, err := os.ReadFile(filepath.Join(dir, "some.svg"))
	require.NoError(t, err)
	require.Equal(t, somePlot.svg(), string(data))
}

func TestSweepLines(t *testing.T) {
	s := sweep{sizes: []int{1, 10}, names: [2]string{"ours", "peer"}}
	s.addLines([][]pair{{{Ours: 1, Peer: 9}, {Ours: 3, Peer: 7}, {Ours: 2, Peer: 8}}, {{Ours: 5, Peer: 6}}})
	require.Equal(t, []line{{"ours", []point{{1, 2}, {10, 5}}}, {"peer", []point{{1, 8}, {10, 6}}}}, s.Lines)
}
