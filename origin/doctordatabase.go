package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/doctor"
	"github.com/addrspec/addrspec/origin/ledger"
)

// databaseDoctor checks the ledger's database.
type databaseDoctor struct{ databaseFlag }

// look opens the ledger as it is and looks at its state.
func (d *databaseDoctor) look(ctx context.Context) (detail string, err error) {
	err = d.with(ctx, func(l *ledger.Ledger) error {
		start := time.Now()
		plans, err := l.Plans(ctx)
		if err != nil {
			return err
		}
		took := time.Since(start).Round(time.Microsecond)
		e, err := l.Examine(ctx)
		detail = fmt.Sprintf("%s answers in %s and has %d plans; %s", d.redacted(), took, len(plans), e.Summary)
		problems := append([]error{err}, e.Wrong...)
		for _, soon := range e.Advice {
			problems = append(problems, doctor.Advice{Err: soon})
		}
		return errors.Join(problems...)
	}, ledger.ReadOnly())
	if path := d.sqliteFile(); path != "" {
		err = errors.Join(err, doctor.LocalDisk(path), doctor.Owners(path))
	}
	return detail, err
}

// now returns the time of the database's clock.
func (d *databaseDoctor) now(ctx context.Context) (now time.Time, err error) {
	err = d.with(ctx, func(l *ledger.Ledger) error {
		now, err = l.Now(ctx)
		return err
	}, ledger.ReadOnly())
	return now, err
}
