package dashboard

import (
	"fmt"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger"
)

// A barView is the bar of one day.
type barView struct {
	Day      string `json:"day"`
	Requests int64  `json:"requests"`
	Points   int64  `json:"points"`
	// X, Y and Height place the bar in a box of 30 by 24 units.
	X      int     `json:"-"`
	Y      float64 `json:"-"`
	Height float64 `json:"-"`
}

const barBox = 24

// bars returns a key's bars for the days up to last, the highest of which fills
// the box.
func bars(key int64, days []ledger.KeyDay, last ledger.Day) []barView {
	list := make([]barView, barDays)
	for i := range list {
		list[i] = barView{Day: (last - barDays + 1 + ledger.Day(i)).String(), X: i}
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

// barsPath returns all bars as one path of SVG.
func barsPath(list []barView) string {
	var path strings.Builder
	for _, b := range list {
		if b.Requests > 0 {
			fmt.Fprintf(&path, "M%d %dV%.3gh.75V%d", b.X, barBox, b.Y, barBox)
		}
	}
	return path.String()
}

// requestsOf returns how many requests the bars show together.
func requestsOf(list []barView) (n int64) {
	for _, b := range list {
		n += b.Requests
	}
	return n
}
