package blob

import (
	"fmt"
	"strings"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/format"
)

// packSources encodes the sources, one per line.
func packSources(sources []lists.Source) (packed []byte, err error) {
	if len(sources) > format.MaxSources {
		return nil, fmt.Errorf("%d sources do not fit the %d bits of an entry's carriers", len(sources), format.MaxSources)
	}
	for _, s := range sources {
		if packed, err = appendLine(packed, s.Name, s.Version, s.Licence, s.Day, s.Domains); err != nil {
			return nil, err
		}
	}
	return packed, nil
}

// packRules encodes the rules, one per line.
func packRules(rules []lists.Rule) (packed []byte, err error) {
	if len(rules) > format.MaxRules {
		return nil, fmt.Errorf("%d rules do not fit one byte", len(rules))
	}
	for _, r := range rules {
		options := ""
		if r.Tags {
			options += string(format.OptionTags)
		}
		if r.Subdomains {
			options += string(format.OptionSubdomains)
		}
		if packed, err = appendLine(packed, r.Name, options, r.Ignored, r.Domain); err != nil {
			return nil, err
		}
	}
	return packed, nil
}

// appendLine appends a line of fields, of which the first is a name.
func appendLine(dst []byte, fields ...string) ([]byte, error) {
	line := strings.Join(fields, "\t")
	escaped := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
	if fields[0] == "" || len(line) > format.MaxLine || strings.ContainsFunc(strings.Join(fields, ""), escaped) {
		return nil, fmt.Errorf("%q cannot be packed: want a name, printable ASCII without quotes and backslashes, at most %d bytes", fields, format.MaxLine)
	}
	return append(append(dst, line...), '\n'), nil
}
