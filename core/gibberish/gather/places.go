package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// places collects names of towns by country, a sample of each. Surnames and
// company names resemble them, and no other list covers every country.
func places(cache string) (sections, error) {
	file, err := os.ReadFile(filepath.Join(npmFolder(cache, cities), "cities.pbf"))
	if err != nil {
		return nil, err
	}
	towns := map[string][]string{}
	for len(file) > 0 {
		size, n := binary.Uvarint(file) // a length-prefixed message
		if n <= 0 || size > uint64(len(file)-n) {
			return nil, fmt.Errorf("malformed town %d bytes before the end", len(file))
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
	s := sections{}
	for country, names := range towns {
		slices.Sort(names)
		for _, name := range thin(slices.Compact(names), perCountry) {
			s.add(country, strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' })...)
		}
	}
	return s, nil
}

// townOf returns the name (field 2) and the country (field 3) of a town.
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

// field reads the first field of a Protocol Buffers message. value is nil for a
// varint; other types than varint and length-delimited are an error.
func field(b []byte) (tag uint64, value, rest []byte, err error) {
	key, n := binary.Uvarint(b)
	size, m := binary.Uvarint(b[max(n, 0):])
	if n <= 0 || m <= 0 {
		return 0, nil, nil, fmt.Errorf("malformed field key %d bytes before the end", len(b))
	}
	b = b[n+m:]
	if key&7 == 0 { // varint
		return key >> 3, nil, b, nil
	}
	if key&7 != 2 || size > uint64(len(b)) {
		return 0, nil, nil, fmt.Errorf("unexpected field %d of type %d", key>>3, key&7)
	}
	return key >> 3, b[:size], b[size:], nil
}
