package docs

import (
	"bytes"
	"encoding/json"
)

// An ordered is a JSON object whose members keep the order of the document, which
// is the order of the reference.
type ordered[T any] []member[T]

type member[T any] struct {
	name  string
	value T
}

// UnmarshalJSON reads an object.
func (o *ordered[T]) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil { // the brace
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		m := member[T]{name: name.(string)}
		if err := d.Decode(&m.value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	return nil
}

// get returns the member with this name.
func (o ordered[T]) get(name string) (value T, ok bool) {
	for _, m := range o {
		if m.name == name {
			return m.value, true
		}
	}
	return value, false
}
