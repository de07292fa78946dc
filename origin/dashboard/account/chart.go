package account

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/words"
)

// A ChartView is a chart of stacked bars, one for each day, laid out for the
// template chart. Bars are in an SVG that is stretched to its place, so the labels
// around it are text and keep their size on a phone.
type ChartView struct {
	Series []ChartSeries `json:"series"`
	Days   []chartDay    `json:"days"`
	Top    string        `json:"-"` // the value at the top of the axis, and half of it
	Middle string        `json:"-"`
	Total  int64         `json:"total"`
	Ticks  []string      `json:"-"` // days under the bars
}

// A ChartSeries is a part of each bar.
type ChartSeries struct {
	Name  string `json:"name"`
	Class string `json:"-"` // of the style sheet
	Total int64  `json:"total"`
}

// A chartDay is one bar with its parts from the bottom up.
type chartDay struct {
	Day    string     `json:"day"`
	Label  string     `json:"-"` // such as 3 Nov 2026: 1,200 points
	Values []int64    `json:"values"`
	Total  int64      `json:"total"`
	Parts  []chartBar `json:"-"`
}

// A chartBar is a rectangle in the units of the SVG.
type chartBar struct {
	X, Y, Width, Height string
	Class               string
}

// The units of the SVG's view box.
const (
	chartWidth  = 600
	chartHeight = 200
	chartGap    = 0.2 // of a day's width, between bars
)

// NewChart lays out values[day][series] from the day first on. The series others is
// the last one, if there is one.
func NewChart(series []string, others bool, first book.Day, values [][]int64) ChartView {
	c := ChartView{}
	for i, name := range series {
		class := "series-" + strconv.Itoa(i+1)
		if others && i == len(series)-1 {
			class = "series-others"
		}
		c.Series = append(c.Series, ChartSeries{Name: name, Class: class})
	}
	highest := int64(0)
	for i, row := range values {
		day := first + book.Day(i)
		d := chartDay{Day: day.String(), Values: row}
		for n, value := range row {
			c.Series[n].Total += value
			d.Total += value
		}
		d.Label = words.Date(day.Time()) + ": " + words.Count(d.Total, "point")
		c.Days = append(c.Days, d)
		c.Total += d.Total
		highest = max(highest, d.Total)
	}
	top, width := niceTop(highest), float64(chartWidth)/float64(len(values))
	c.Top, c.Middle = humanize.Comma(top), humanize.Comma(top/2)
	for i, row := range values {
		below, x := int64(0), units(width*(float64(i)+chartGap/2))
		for n, value := range row {
			if value <= 0 {
				continue
			}
			below += value
			y, height := chartHeight*(1-float64(below)/float64(top)), chartHeight*float64(value)/float64(top)
			bar := chartBar{x, units(y), units(width * (1 - chartGap)), units(height), c.Series[n].Class}
			c.Days[i].Parts = append(c.Days[i].Parts, bar)
		}
	}
	for _, i := range []int{0, len(values) / 2, len(values) - 1} {
		c.Ticks = append(c.Ticks, (first + book.Day(i)).Time().Format("2 Jan"))
	}
	return c
}

func units(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// niceTop returns a round number that is n or little more, and whose half is a whole number too.
func niceTop(n int64) int64 {
	for unit := int64(1); ; unit *= 10 {
		for _, factor := range []int64{2, 4, 6, 8, 10, 12, 16} {
			if top := factor * unit; top >= n {
				return top
			}
		}
	}
}

type shareView struct {
	Name    string `json:"name"`
	Field   string `json:"field"`
	Count   int64  `json:"count"`
	Percent string `json:"percent"`
	Width   string `json:"-"`
	Tone    string `json:"-"`
}

type barView struct {
	Day      string `json:"day"`
	Requests int64  `json:"requests"`
	Points   int64  `json:"points"`
	// X, Y and Height place the bar in a box of 30 by 24 units.
	X      int     `json:"-"`
	Y      float64 `json:"-"`
	Height float64 `json:"-"`
}

const (
	barDays = 30 // that the bars of a key show
	barBox  = 24 // their height
)

// bars returns a key's bars for the days up to last, the highest of which fills the box.
func bars(key int64, days []book.KeyDay, last book.Day) []barView {
	list := make([]barView, barDays)
	for i := range list {
		list[i] = barView{Day: (last - barDays + 1 + book.Day(i)).String(), X: i}
	}
	var most int64
	for _, d := range days {
		if i := int(d.Day - last + barDays - 1); d.Key == key && i >= 0 && i < barDays {
			list[i].Requests, list[i].Points = d.Requests, d.Points
			most = max(most, d.Requests)
		}
	}
	for i := range list {
		if list[i].Requests > 0 {
			list[i].Height = max(1, barBox*float64(list[i].Requests)/float64(most))
			list[i].Y = barBox - list[i].Height
		}
	}
	return list
}

// BarsPath returns all bars as one path of SVG.
func BarsPath(list []barView) string {
	var path strings.Builder
	for _, b := range list {
		if b.Requests > 0 {
			fmt.Fprintf(&path, "M%d %dV%.3gh.75V%d", b.X, barBox, b.Y, barBox)
		}
	}
	return path.String()
}

// RequestsOf returns how many requests the bars show together.
func RequestsOf(list []barView) (n int64) {
	for _, b := range list {
		n += b.Requests
	}
	return n
}
