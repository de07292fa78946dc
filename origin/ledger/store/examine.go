package store

import (
	"context"
	"errors"
)

// An Examination is the state of a database.
type Examination struct {
	Summary string  // in words
	Wrong   []error // what keeps charges from being durable or possible
	Advice  []error // what should be done soon
}

// examiner is a Store that can examine its database.
type examiner interface {
	Examine(ctx context.Context) (Examination, error)
}

// Examine looks at the database of s, until ctx ends.
func Examine(ctx context.Context, s Store) (Examination, error) {
	known, ok := s.(examiner)
	if !ok {
		return Examination{}, errors.New("this store cannot be examined")
	}
	return known.Examine(ctx)
}
