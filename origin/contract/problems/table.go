package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// A table is the content of problems.json.
type table struct {
	Problems  []problem
	Sentences []sentence
}

// A problem is an error response of the HTTP API.
type problem struct {
	Name   string // the variable in Go
	Code   string // in the response; empty for 429, whose shape has none
	Status int
	Shape  string // A, C or input
}

// A sentence is a message that origin and worker share.
type sentence struct {
	Name, Text string
}

func readTable(top string) (t table, err error) {
	raw, err := os.ReadFile(filepath.Join(top, source))
	if err != nil {
		return t, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return t, fmt.Errorf("%s: %w", source, err)
	}
	return t, nil
}

var parameter = regexp.MustCompile(`\$([a-z]+)`)

// Parameters returns the names of the sentence's parameters.
func (s sentence) Parameters() (names []string) {
	for _, found := range parameter.FindAllStringSubmatch(s.Text, -1) {
		names = append(names, found[1])
	}
	return names
}
