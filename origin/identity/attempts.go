package identity

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/words"
)

// A Limit is a token bucket that holds Burst tokens and gains one every Every; 0 limits nothing.
type Limit struct {
	Burst int
	Every time.Duration
}

// A Kind is something that people attempt, with its limits. An attempt that one of them
// refuses takes no token of the others, so no network uses up what all have.
type Kind struct {
	What    string
	Address Limit // of one address
	Network Limit // of one network, at one account if the kind is about accounts
	Account Limit // at one account from anywhere, and as much again from its known browsers together
	All     Limit
}

// The kinds of attempts. They leave room for a person, and little for guessing.
var (
	// An account has 50, then 2,880 a day, of which a network has 10 and 720.
	Passwords = Kind{"password",
		Limit{30, 10 * time.Second}, Limit{10, 2 * time.Minute}, Limit{50, 30 * time.Second}, Limit{}}
	// The network is a session, so that the thief of a session leaves some to others.
	Confirmations = Kind{"confirmation", Limit{}, Limit{10, 2 * time.Minute}, Limit{50, 30 * time.Second}, Limit{}}
	// 10, then 288 a day, of which each has three chances in a million.
	Codes = Kind{"code", Limit{}, Limit{10, 10 * time.Minute}, Limit{10, 5 * time.Minute}, Limit{}}
	Links = Kind{"link", Limit{30, 10 * time.Second}, Limit{}, Limit{}, Limit{}}
	// A sign-in page takes one for passkeys in autofill. All together bound the table of
	// challenges to 16,000 rows of about a kilobyte, from however many networks they come.
	Challenges = Kind{"challenge",
		Limit{60, 5 * time.Second}, Limit{240, time.Second}, Limit{}, Limit{1000, 20 * time.Millisecond}}
	SignUps = Kind{"sign-up", Limit{3, 8 * time.Hour}, Limit{30, time.Hour}, Limit{}, Limit{200, 24 * time.Hour / 200}}
)

// A Caller is the browser that attempts something, or acts for a user.
type Caller struct {
	Address string // IPv4, or an IPv6 /64
	Network string // in which an attacker can easily have many addresses: an IPv4 /24, an IPv6 /48
	Device  string // its token of User.DeviceToken, if it has one
	Session int64  // the ID of its session, if it has one
}

// A TooManyError refuses an attempt.
type TooManyError struct{ Wait time.Duration }

func (e *TooManyError) Error() string {
	return "there were too many attempts; try again in " + words.Seconds(e.Wait)
}

// Attempt counts an attempt that is at no account. It returns a *TooManyError if there were too
// many, on all replicas together.
func (i *Identity) Attempt(ctx context.Context, k Kind, from Caller) error {
	return i.guess(ctx, k, from, "", false)
}

// guess counts an attempt at an account, which need not exist. A browser in which the owner has
// signed in is known, and has a bucket that strangers cannot empty (OWASP, Slow Down Online
// Guessing Attacks with Device Cookies). All known browsers share it, because a thief may have any
// number of tokens. Once it is empty they count as strangers, so that a thief locks nobody out.
func (i *Identity) guess(ctx context.Context, k Kind, from Caller, account string, known bool) error {
	if known {
		err := i.take(ctx, bucket{k.Account, k.What + "\x00known\x00" + account})
		if _, refused := errors.AsType[*TooManyError](err); !refused {
			return err
		}
	}
	return i.take(ctx,
		bucket{k.Address, k.What + "\x00address\x00" + from.Address},
		bucket{k.Network, k.What + "\x00network\x00" + from.Network + "\x00" + account},
		bucket{k.Account, k.What + "\x00account\x00" + account},
		bucket{k.All, k.What + "\x00all"})
}

// A bucket is the Limit of a subject, which is stored as a hash.
type bucket struct {
	Limit
	subject string
}

// take takes a token from each bucket, or from none. Rows are locked in the order of
// Kind's fields, so that no two attempts wait for each other.
func (i *Identity) take(ctx context.Context, buckets ...bucket) error {
	buckets = slices.DeleteFunc(buckets, func(b bucket) bool { return b.Burst == 0 })
	stored := make([]int64, len(buckets))
	var wait int64
	err := i.store.Transact(ctx, store.Transaction{
		Reads: func() (list []store.Statement) {
			for n, b := range buckets {
				lock := statement("lock_attempt", hashOf(b.subject))
				lock.Scan = func(r store.Row) error { return r.Scan(&stored[n]) }
				list = append(list, lock)
			}
			return list
		},
		Decide: func(at time.Time) (list []store.Statement, _ error) {
			now, tats := at.UnixNano(), make([]int64, len(buckets))
			wait = 0
			for n, b := range buckets { // GCRA
				every, burst := b.Every.Nanoseconds(), int64(b.Burst)
				tats[n] = max(now, min(stored[n], now+every*burst)) // after the clock was set back no bucket is longer
				wait = max(wait, tats[n]-now-every*(burst-1))
			}
			for n, b := range buckets {
				if wait == 0 {
					tats[n] += b.Every.Nanoseconds()
				}
				if wait == 0 || tats[n] < stored[n] {
					list = append(list, statement("put_attempt", hashOf(b.subject), tats[n]))
				}
			}
			if wait == 0 {
				list = append(list, statement("delete_old_attempts", now))
			}
			return list, nil
		},
	})
	if err == nil && wait > 0 {
		return &TooManyError{time.Duration(wait)}
	}
	return unavailable(err)
}
