package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/core/eval/people"
)

// runPeople returns a suite that measures gibberish on the authors and committers
// in the histories of git directories, separated by commas. Its figures vary with
// the repositories, so the floors are twice the targets. It lists no row: the
// addresses are people's.
func runPeople(dirs string) func(string) ([]row, error) {
	return func(dir string) ([]row, error) {
		found, err := people.Read(strings.Split(dirs, ","))
		if err != nil {
			return nil, err
		}
		synthetic, err := scoreFile(filepath.Join(dir, "gibberish/dev_positives.tsv"), true)
		if err != nil {
			return nil, err
		}
		random := [][]float64{
			scoresOf(part(synthetic, "hard_").main),
			scoresOf([]scored{scoreAll("relay-style", true, relayStyle(2500))}),
		}
		return peopleRows(found, random), nil
	}
}

func peopleRows(found people.Histories, random [][]float64) []row {
	named := []scored{scoreAll("named", false, found.Named)}
	provable := []scored{scoreAll("provable", false, found.Provable)}
	relayed := []scored{scoreAll("relayed", true, found.Relayed)}
	ofNamed, ofProvable := rowsOf("named addresses", count(named)), rowsOf("provable people", count(provable))
	rows := []row{
		{check: "people: provable people flagged, %", data: ofProvable, figure: percent(provable), floor: 0.24, target: 0.12, lower: true},
		{check: "people: all named flagged, %", data: ofNamed, figure: percent(named), floor: 1.2, target: 0.6, lower: true},
		{check: "people: calibration error, provable people", data: ofProvable, floor: 0.02, target: 0.01, lower: true,
			figure: calibrationError(calibrationBins, mix(statedPrior, scoresOf(provable), random...))},
		{check: "people: calibration error, all named", data: ofNamed, floor: 0.02, target: 0.01, lower: true,
			figure: calibrationError(calibrationBins, mix(statedPrior, scoresOf(named), random...))},
	}
	if count(relayed) > 0 {
		rows = append(rows, row{check: "people: addresses at relay services caught, %",
			data: fmt.Sprint(count(relayed), " addresses"), figure: percent(relayed), target: 90})
	}
	return rows
}
