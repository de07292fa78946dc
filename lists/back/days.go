package main

import "time"

const (
	lastDay  = "2026-09-07" // 60 days before the newest version of D in history.txt
	interval = 60           // days between two measurements
	count    = 11           // of measurements: before lastDay-600 npm's times say nothing
)

// horizons are the days after a measurement in which D gains domains.
var horizons = []int{7, 30, 60}

// days returns the days of measurement in their order.
func days() (all []string) {
	for i := count - 1; i >= 0; i-- {
		all = append(all, after(lastDay, -i*interval))
	}
	return all
}

// after returns the day n days after day.
func after(day string, n int) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err) // days are constants or were checked by readHistory
	}
	return t.AddDate(0, 0, n).Format(time.DateOnly)
}
