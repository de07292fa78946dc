package docs

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A bodyView is the body of a request or of an answer.
type bodyView struct {
	MediaType string
	Shapes    []shape
	Samples   []sampleView
}

// A sampleView is an example of a body.
type sampleView struct {
	Summary string
	JSON    string
}

func (p *shaper) bodies(content ordered[media]) (list []bodyView, err error) {
	for _, m := range content {
		b := bodyView{MediaType: m.name}
		if m.value.Schema != nil {
			if b.Shapes, err = p.shapes(m.value.Schema); err != nil {
				return nil, err
			}
		}
		if b.Samples, err = p.samples(m.value); err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

func (p *shaper) samples(m media) (list []sampleView, err error) {
	if m.Example != nil {
		list = append(list, sampleView{"", indent(m.Example)})
	}
	for _, one := range m.Examples {
		found, err := p.sample(one.value)
		if err != nil {
			return nil, err
		}
		list = append(list, sampleView{found.Summary, indent(found.Value)})
	}
	return list, nil
}

// bare returns a JSON value; a string has no quotes.
func bare(value json.RawMessage) string { return strings.Trim(code(value), "`") }

func indent(value json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, value, "", "  ") != nil {
		return string(value)
	}
	return out.String()
}
