package ledger

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// buy buys single points until there are none, and returns how many it got.
func (b *bench) buy(l *Ledger, seen *sync.Map) (sold int64) {
	on := *b
	on.Ledger = l
	for {
		d, err := on.try(b.ctx, b.secret, 1, nil)
		require.NoError(b, err)
		switch d.Verdict {
		case Insufficient:
			return sold
		case Claimed: // somebody else may not get it in the end
			continue
		}
		require.Equal(b, Good, d.Verdict)
		sold++
		_, twice := seen.LoadOrStore(d.Usage.Current, true)
		require.False(b, twice, "two buyers got the same total")
	}
}

// N points, sixteen buyers, each until it is refused: exactly N are sold.
func TestConcurrentChargesSellEachPointOnce(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		const points = 400
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(points)})
		var seen sync.Map
		var sold atomic.Int64
		together(16, func(int) { sold.Add(b.buy(b.Ledger, &seen)) })
		require.EqualValues(t, points, sold.Load())
		require.EqualValues(t, points, b.used())
		require.Equal(t, points, int(b.history().Points))
		require.Greater(t, b.Stats().Largest, 1, "they were committed together")
	})
}

// Requests of every size, charged in part, and callers that leave at any
// moment: what the ledger holds in the end is what was answered, to the point.
func TestConcurrentLeaversPayNothing(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Plan: "pro", Rate: limit(Unlimited), Points: limit(2000), Overage: yes()})
		second, key, err := b.CreateKey(b.ctx, b.account, "second", KeyTerms{})
		require.NoError(t, err)
		var paid [2]atomic.Int64 // by key
		var gone atomic.Int64
		together(8, func(i int) {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 80 {
				which := random.IntN(2)
				points := b.impatient(random, [...]string{b.secret, second}[which])
				if paid[which].Add(points); points == 0 {
					gone.Add(1)
				}
			}
		})
		days, err := b.UsageHistory(b.ctx, b.account, 0, 1_000_000)
		require.NoError(t, err)
		byKey := map[int64]int64{b.key.ID: 0, key.ID: 0}
		for _, d := range days {
			byKey[d.Key] += d.Points
		}
		require.Equal(t, map[int64]int64{b.key.ID: paid[0].Load(), key.ID: paid[1].Load()}, byKey)
		require.Equal(t, paid[0].Load()+paid[1].Load(), b.used())
		t.Logf("%d of 640 left before they were charged", gone.Load())
		require.Positive(t, gone.Load())
		require.Less(t, gone.Load(), int64(640))
	})
}

// impatient sends a request, may leave at a random microsecond, and returns
// what it had to pay: nothing unless it got an answer.
func (b *bench) impatient(random *rand.Rand, secret string) int64 {
	ctx, cancel := context.WithTimeout(b.ctx, time.Duration(random.IntN(1<<(6+random.IntN(11))))*time.Microsecond)
	defer cancel()
	r, d, err := b.Begin(ctx, secret)
	if err != nil {
		require.ErrorIs(b, err, context.DeadlineExceeded)
		return 0
	}
	if d.Verdict == Wasteful {
		b.clock.advance(time.Minute)
		return 0
	}
	defer r.End()
	price := 1 + random.Int64N(64)
	if d, err := r.Claim(price, nil); err != nil || d.Verdict != Good {
		require.ErrorIs(b, err, context.DeadlineExceeded)
		return 0
	}
	points := 1 + random.Int64N(price)
	d, err = r.Charge(Charge{Points: points, Found: Found{Valid: points}})
	if err != nil {
		require.ErrorIs(b, err, context.DeadlineExceeded)
		return 0
	}
	require.Equal(b, Good, d.Verdict)
	return points
}

// Of many requests with one Idempotency-Key one is charged, and the others get
// its answer.
func TestConcurrentRetriesAreChargedOnce(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		other := b.elsewhere()
		var charged, replayed atomic.Int64
		together(16, func(i int) {
			for {
				d := []*bench{b, other}[i%2].repeat(1, 1)
				switch d.Verdict {
				case Good:
					charged.Add(1)
					return
				case Replayed:
					replayed.Add(1)
					require.Equal(b, answerOf, string(d.Answer))
					return
				}
				require.Equal(b, IdempotencyConflict, d.Verdict)
			}
		})
		require.EqualValues(t, 1, charged.Load())
		require.EqualValues(t, 15, replayed.Load())
		require.EqualValues(t, 5, b.used())
	})
}

// 64 points and a thousand requests for all of them: one works at a time, and
// one is charged. The others are refused before they work.
func TestPointsUnderWayAreNotPromisedTwice(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(64)})
		first := b.arrive()
		d, err := first.Claim(64, nil)
		require.NoError(t, err)
		require.Equal(t, Good, d.Verdict)
		together(16, func(int) {
			for range 63 {
				d := b.ask(64)
				require.Equal(b, Claimed, d.Verdict)
				require.Zero(b, d.Remaining, "what is held counts as used")
				require.Equal(b, time.Second, d.RetryAfter)
			}
		})
		first.End()
		require.Equal(t, Good, b.ask(64).Verdict, "nothing was charged for work that failed")
		require.Equal(t, Insufficient, b.ask(64).Verdict)
		require.EqualValues(t, 64, b.used())
	})
}

func TestRequestsUnderWayAreBounded(t *testing.T) {
	b := begin(t, "sqlite:"+t.TempDir()+"/x.db", plenty)
	var list []*Request
	for range maxUnderWay {
		list = append(list, b.arrive())
	}
	require.Equal(t, maxUnderWay, b.Stats().UnderWay)
	require.Equal(t, Busy, b.ask(1).Verdict)
	list[0].End()
	require.Equal(t, Good, b.ask(1).Verdict)
	for _, r := range list[1:] {
		r.End()
	}
	require.Zero(t, b.Stats().UnderWay)
}

// An account without limits that hangs up ten thousand times gets a thousand
// units of work for nothing and then waits.
func TestHangingUpIsBounded(t *testing.T) {
	b := begin(t, "sqlite:"+t.TempDir()+"/x.db", plenty)
	worked := 0
	hangUp := func() Verdict {
		ctx, cancel := context.WithCancel(b.ctx)
		r, d, err := b.Begin(ctx, b.secret)
		require.NoError(t, err)
		if d.Verdict == Good {
			_, err := r.Claim(1, nil)
			require.NoError(t, err)
			worked++
			cancel()
			r.End()
		}
		cancel()
		return d.Verdict
	}
	for range 10_000 {
		hangUp()
	}
	require.Equal(t, wasteCapacity+1, worked)
	require.Equal(t, Wasteful, b.ask(1).Verdict)
	b.clock.advance(time.Second)
	for range 1000 {
		hangUp()
	}
	require.Equal(t, wasteCapacity+1+64, worked, "64 more each second")
	b.clock.advance(time.Minute)
	require.Equal(t, Good, b.ask(1).Verdict, "and it is forgiven")
	for range wasteCapacity + 100 {
		require.Equal(t, Good, b.ask(1).Verdict, "who waits for the answers wastes nothing")
	}
}

// A process that is killed has charged at most one full group of requests that
// have no answer yet: charges wait while answers are sent. A client that does
// not read its answer delays nobody for long.
func TestChargesWithoutAnAnswerAreBounded(t *testing.T) {
	b := begin(t, "sqlite:"+t.TempDir()+"/x.db", plenty)
	const callers = 3 * groupLimit
	begun, sent := time.Now(), make(chan struct{})
	var most atomic.Int64
	go func() {
		for most.Load() < callers && time.Since(begun) < sendLimit*9/10 {
			if used := b.used(); time.Since(begun) < sendLimit {
				most.Store(max(most.Load(), used))
			}
			time.Sleep(time.Millisecond) // leaves the processors to the callers
		}
		close(sent)
	}()
	together(callers, func(int) {
		r := b.arrive()
		d, err := r.Claim(1, nil)
		require.NoError(b, err)
		require.Equal(b, Good, d.Verdict)
		d, err = r.Charge(Charge{Points: 1})
		require.NoError(b, err)
		require.Equal(b, Good, d.Verdict)
		<-sent
		r.End()
	})
	require.LessOrEqual(t, most.Load(), int64(groupLimit))
	require.EqualValues(t, callers, b.used())
	require.Less(t, time.Since(begun), 100*sendLimit, "who does not read delays others, but not for long")
}
