package main

import (
	"fmt"
	"os"
	"strings"
)

// labelsPath has domains of real mail, judged by hand. Some of the rules of the
// merge were chosen with it.
const labelsPath = "core/eval/data/real/disposable_labels.tsv"

// labelled is a row of labelsPath.
type labelled struct{ domain, label string }

func readLabels() (rows []labelled, err error) {
	file, err := os.ReadFile(labelsPath)
	if err != nil {
		return nil, fmt.Errorf("run from the root of the repository: %w", err)
	}
	for line := range strings.Lines(string(file)) {
		if fields := strings.Split(line, "\t"); len(fields) >= 3 {
			rows = append(rows, labelled{fields[0], fields[2]})
		}
	}
	return rows, nil
}

func countLabels(rows []labelled, label string) (n int) {
	for _, row := range rows {
		if row.label == label {
			n++
		}
	}
	return n
}

// measureLabels looks up the labelled domains with the lists of the last day.
func (m *measurement) measureLabels(p past) {
	m.right, m.alarms = make([]int, len(rules)), make([][]string, len(rules))
	for r, rule := range rules {
		for _, row := range m.labels {
			if row.label == "unclear" || !rule.flags(p, row.domain) {
				continue
			}
			if row.label == "disposable" {
				m.right[r]++
			} else {
				m.alarms[r] = append(m.alarms[r], row.domain)
			}
		}
	}
}
