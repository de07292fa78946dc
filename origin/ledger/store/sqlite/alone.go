package sqlite

import "context"

// isAlone reports for a Marked transaction that has the write lock whether
// Transaction.Alone is to be called. It compares two values of data_version, which
// changes if another connection has committed, of this process or another
// (https://www.sqlite.org/pragma.html#pragma_data_version). Transactions on this
// connection do not change it, so one that is not Marked drops the value.
func (s *sqlite) isAlone(ctx context.Context, marked bool) (bool, error) {
	before := s.seen
	if s.seen = nil; !marked {
		return false, nil
	}
	now, err := s.dataVersion(ctx)
	if err != nil {
		return false, err
	}
	s.seen = &now
	return before != nil && *before == now, nil
}

func (s *sqlite) dataVersion(ctx context.Context) (version int64, err error) {
	ready, err := s.prepare(ctx, "PRAGMA data_version")
	if err != nil {
		return 0, err
	}
	return version, ready.QueryRowContext(ctx).Scan(&version)
}
