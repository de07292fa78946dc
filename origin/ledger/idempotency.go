package ledger

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Retention is how long an Idempotency-Key is remembered.
const Retention = 24 * time.Hour

// Idempotency names a request that may be sent again. The ledger never sees
// what was hashed.
type Idempotency struct {
	ID   [32]byte // of the account and the Idempotency-Key
	Body [32]byte // of what the request asks
}

// A record is an idempotency record: the answer that an Idempotency-Key
// replays.
type record struct {
	body    [32]byte
	answer  []byte
	size    int64
	expires int64 // Unix time in nanoseconds
}

// replay turns the decision to replay into another where the body differs.
func (x *record) replay(once *Idempotency, d Decision) Decision {
	if subtle.ConstantTimeCompare(x.body[:], once.Body[:]) == 0 {
		d.Verdict = IdempotencyMismatch
		return d
	}
	d.Answer = x.answer
	return d
}

// A recordID names a record within an account.
type recordID [32]byte

func (id recordID) hex() string { return hex.EncodeToString(id[:]) }

// Idempotency records that have expired are deleted in slices, and while
// requests wait for at most a fifth of the writer's time.
const (
	purgeEvery   = time.Minute
	purgeRecords = 500     // in a slice
	purgeBytes   = 4 << 20 // likewise
	purgeShare   = 4       // times as long for others as for a slice
)

// purge deletes one slice when it is due. A full slice is followed by another.
func (w *writer) purge(now time.Time) {
	if now.Before(w.nextPurge) {
		return
	}
	begun := time.Now()
	group, full := w.expiredRecords()
	w.commit(group)
	w.nextPurge = now.Add(purgeEvery)
	if full {
		w.nextPurge = now.Add(purgeShare * time.Since(begun))
	}
}

// expired lists a slice as operations, one for each account.
func (w *writer) expiredRecords() (group []operation, full bool) {
	byAccount := map[int64]*purgeOp{}
	records, bytes := 0, int64(0)
	list := store.Statement{Name: "list_expired_answers", Args: []any{w.clock.now().UnixNano(), purgeRecords}}
	list.Scan = func(r store.Row) error {
		var account, size int64
		var id string
		if err := r.Scan(&account, &id, &size); err != nil || bytes+size > purgeBytes && records > 0 {
			full = full || err == nil
			return err
		}
		o := byAccount[account]
		if o == nil {
			o = &purgeOp{account: account}
			byAccount[account] = o
			group = append(group, o)
		}
		records, bytes = records+1, bytes+size
		o.ids = append(o.ids, recordID{})
		return fromHex(o.ids[len(o.ids)-1][:], id)
	}
	if err := w.query(context.Background(), list); err != nil {
		return nil, false
	}
	return group, full || records == purgeRecords
}

// purging deletes idempotency records that have expired.
type purgeOp struct {
	account int64
	ids     []recordID
}

func (o *purgeOp) addReads(rs *readSet) {
	rs.rows[rowKey{account: o.account}] = true
	for _, id := range o.ids {
		rs.records[recordKey{o.account, id}] = true
	}
}

func (o *purgeOp) decide(ws *workingSet) {
	for _, id := range o.ids {
		at := recordKey{o.account, id}
		if x := ws.records[at]; x != nil && ws.now.UnixNano() >= x.expires {
			ws.deleteRecord(at)
		}
	}
}

func (o *purgeOp) settle(*views) {}
func (o *purgeOp) fail(error)    {}
