package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// source is a published list: an npm package that contains domains.
type source struct {
	letter  byte   // its mark in sources/domains.txt
	name    string // on npm
	licence string
	file    string // in the package, with the domains
	read    func([]byte) ([]string, error)
	remark  string // for sources/provenance.txt
}

var sources = []source{
	{'D', "disposable-email-domains-js", "CC0-1.0", "package/dist/dict/disposable_email_blocklist.json", readArray,
		"disposable; mirrors disposable-email-domains, which requires proof of each entry"},
	{'K', "fakefilter", "BSD-3-Clause", "package/json/data.json", readFakefilter,
		"disposable; crawls the providers themselves, drops what it has not seen for a year"},
	{'M', "mailchecker", "MIT", "package/platform/node/index.js", readMailchecker,
		"disposable, with relays among them; counts only together with I or B"},
	{'I', "disposable-email-domains", "MIT", "package/index.json", readArray,
		"disposable, stale; counts only together with M"},
	{'B', "burner-email-providers", "MIT", "package/emails.txt", readLines,
		"disposable, largely a copy of I; counts only together with M"},
	{'F', "free-email-domains", "MIT", "package/domains.json", readArray,
		"public, with disposables among them; counts only together with E and without D, K, M"},
	{'E', "email-providers", "ISC", "package/all.json", readArray,
		"public, with disposables among them; counts only together with F and without D, K, M"},
}

// readArray reads a JSON array of names.
func readArray(file []byte) (names []string, err error) {
	err = json.Unmarshal(file, &names)
	return names, err
}

// readLines reads one name per line.
func readLines(file []byte) ([]string, error) {
	return strings.Fields(string(file)), nil
}

// readFakefilter reads the keys of the object "domains".
func readFakefilter(file []byte) (names []string, err error) {
	var data struct{ Domains map[string]struct{} }
	err = json.Unmarshal(file, &data)
	for name := range data.Domains {
		names = append(names, name)
	}
	return names, err
}

// readMailchecker reads the only array literal of the package's JavaScript.
func readMailchecker(file []byte) ([]string, error) {
	_, rest, found := bytes.Cut(file, []byte("new Set("))
	array, _, closed := bytes.Cut(rest, []byte(")"))
	if !found || !closed {
		return nil, errors.New("no `new Set(...)` in it: has the package changed?")
	}
	return readArray(array)
}
