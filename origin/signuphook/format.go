package signuphook

import (
	"bytes"

	"github.com/go-json-experiment/json"
)

// A Call is the content of a request.
type Call struct {
	ID       string // identifies the sign-up: the same for every attempt
	Email    string // "" if the user has none
	language string // asked for; may be ""
}

// A format is how a sign-up system asks and is answered.
type format interface {
	// read reads a body whose signature is valid. It returns a sentence for the
	// caller, or "".
	read(body []byte, id string) (call Call, wrong string)
	// answer returns the body of a 200.
	answer(v *Verdict, message string) []byte
}

var formats = map[string]format{"generic": generic{}, "supabase": supabase{}}

// Read reads the body of a request whose signature is valid; id is its webhook-id. It
// returns a sentence that says what is wrong with the body, or "".
func (h *Hook) Read(body []byte, id string) (call Call, wrong string) {
	return h.format.read(body, id)
}

// Answer returns the body of the answer.
func (h *Hook) Answer(v Verdict, c Call) []byte {
	return h.format.answer(&v, h.messages.message(&v, c.language))
}

// encode returns v as JSON. v is a struct of this package whose strings are UTF-8, so
// encoding cannot fail.
func encode(v any) []byte {
	text, _ := json.Marshal(v)
	return text
}

// decode decodes a body: an object in UTF-8 without members that occur twice. Members
// that v does not have are ignored.
func decode(body []byte, v any) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) && json.Unmarshal(body, v) == nil
}
