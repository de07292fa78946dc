package ledger

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Retention is the lifetime of an idempotency record.
const Retention = 24 * time.Hour

// Idempotency identifies a request that a client may retry, by hashes only.
type Idempotency struct {
	ID   [32]byte // hash of the account and the Idempotency-Key
	Body [32]byte // hash of the request's body
}

// A record is an idempotency record: the stored answer for an Idempotency-Key.
type record struct {
	body    [32]byte // hash of the body, as in Idempotency
	answer  []byte
	size    int64
	expires int64 // Unix time in nanoseconds
}

// replay adds the stored answer to the decision d, or turns d into
// IdempotencyMismatch if the body differs.
func (x *record) replay(once *Idempotency, d Decision) Decision {
	if subtle.ConstantTimeCompare(x.body[:], once.Body[:]) == 0 {
		d.Verdict = IdempotencyMismatch
		return d
	}
	d.Answer = x.answer
	return d
}

// A recordID identifies a record within an account.
type recordID [32]byte

func (id recordID) hex() string { return hex.EncodeToString(id[:]) }

// Expired records are deleted in slices. After a full slice the next begins when
// five times its duration have passed since its beginning, so deletion takes a
// fifth of the writer's time at most.
const (
	purgeEvery   = time.Minute
	purgeRecords = 500     // in a slice
	purgeBytes   = 4 << 20 // in a slice
	purgeShare   = 5       // durations of a slice from one full slice to the next
)

// purge deletes one slice, if it is due.
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

// expiredRecords returns a slice as operations, one for each account, and
// whether it is full. If the database cannot be read, it returns none.
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
	if err := w.store.Query(context.Background(), list); err != nil {
		return nil, false
	}
	return group, full || records == purgeRecords
}

// A purgeOp deletes idempotency records of an account, unless they were replaced
// since they were listed as expired.
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
	if ws.accounts[o.account] == nil {
		return // deleted since
	}
	for _, id := range o.ids {
		at := recordKey{o.account, id}
		if x := ws.records[at]; x != nil && ws.now.UnixNano() >= x.expires {
			ws.deleteRecord(at)
		}
	}
}

func (o *purgeOp) settle(*views) {}
func (o *purgeOp) fail(error)    {}
