package api

import (
	"net/http"
	"strconv"
)

// usualFields is more fields than a usual answer has.
const usualFields = 12

// fields sets header fields, whose names must be in canonical form. The values share
// one allocation; http.Header.Set makes one for each, which was a sixth of all that a
// request makes.
type fields struct {
	header http.Header
	values []string
}

func fieldsOf(h http.Header) *fields { return &fields{h, make([]string, 0, usualFields)} }

func (f *fields) set(name, value string) {
	f.values = append(f.values, value)
	f.header[name] = f.values[len(f.values)-1:][:1:1]
}

func (f *fields) setInt(name string, value int64) { f.set(name, strconv.FormatInt(value, 10)) }
