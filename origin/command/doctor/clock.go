package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Clocks that differ by more are reported. Months begin, keys expire and lists
// expire by them.
const (
	mostApart = 10 * time.Second
	advised   = 2 * time.Second
)

// Clock looks at the machine's clock: whether it is later than the program, whether
// the kernel says that it is synchronised, and how far it is from the database's.
// database may be nil.
func Clock(earliest time.Time, database func(context.Context) (time.Time, error)) Check {
	return Check{"clock", func(ctx context.Context) (string, error) {
		now := time.Now().UTC()
		if now.Before(earliest) {
			return "", fmt.Errorf("it is set to %s, before this program was built; start NTP", now.Format(time.DateTime))
		}
		err := errors.Join(apart(ctx, database), synchronised())
		return now.Format(time.DateTime) + " UTC", err
	}}
}

// apart compares this machine's clock with the database's.
func apart(ctx context.Context, database func(context.Context) (time.Time, error)) error {
	if database == nil {
		return nil
	}
	before := time.Now()
	theirs, err := database(ctx)
	if err != nil {
		return nil // the check of the database says why
	}
	ours := before.Add(time.Since(before) / 2)
	return difference("the database's clock", ours.Sub(theirs))
}

// difference returns an error for a clock that differs from ours.
func difference(whose string, d time.Duration) error {
	way := "behind"
	if d < 0 {
		way = "ahead of"
	}
	switch size := d.Abs().Round(time.Millisecond); {
	case size > mostApart:
		return fmt.Errorf("%s is %s %s this machine's: synchronise both with NTP", whose, size, way)
	case size > advised:
		return Advise("%s is %s %s this machine's: synchronise both with NTP", whose, size, way)
	}
	return nil
}
