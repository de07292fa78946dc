package identity

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // a connection beside the ledger's
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.RemoveShared()
	os.Exit(code)
}

// A fixture is an account with a user, on a database whose clock the test moves.
type fixture struct {
	*Identity
	account int64
	clock   *atomic.Int64
	url     string // of the database
}

func (f *fixture) advance(d time.Duration) { f.clock.Add(int64(d)) }

// database opens the database beside the ledger.
func (f *fixture) database(t *testing.T) *sql.DB {
	driver, source := "pgx", f.url
	if path, ok := strings.CutPrefix(f.url, "sqlite:"); ok {
		driver, source = "sqlite", "file:"+path+"?_pragma=busy_timeout(120000)"
	}
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// rows counts the rows of a table.
func (f *fixture) rows(t *testing.T, table string) (n int) {
	require.NoError(t, f.database(t).QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

func eachDatabase(t *testing.T, test func(*testing.T, *fixture)) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		clock := new(atomic.Int64)
		clock.Store(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC).UnixNano())
		l, err := ledger.Open(t.Context(), url, ledger.WithClock(func() time.Time { return time.Unix(0, clock.Load()) }))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		a, err := l.CreateAccount(t.Context(), "owner@example.com", book.Terms{})
		require.NoError(t, err)
		test(t, &fixture{New(l), a.ID, clock, url})
	})
}

func TestLinkSignsInOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		first, err := f.CreateLink(t.Context(), f.account)
		require.NoError(t, err)
		token, err := f.CreateLink(t.Context(), f.account)
		require.NoError(t, err)
		_, _, err = f.UseLink(t.Context(), first)
		require.ErrorIs(t, err, ErrLinkUsed, "a later link ends the earlier one")
		u, err := f.LinkUser(t.Context(), token)
		require.NoError(t, err, "looking does not use it up")
		require.Equal(t, "owner@example.com", u.Email)
		var used atomic.Int64
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				if _, _, err := f.UseLink(t.Context(), token); err == nil {
					used.Add(1)
				}
			})
		}
		wait.Wait()
		require.EqualValues(t, 1, used.Load())
	})
}

// A change that changes nothing leaves no line in the audit log.
func TestUnchangedIsNotAudited(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		token, err := f.CreateLink(t.Context(), f.account)
		require.NoError(t, err)
		user, _, err := f.UseLink(t.Context(), token)
		require.NoError(t, err)
		_, err = f.SignIn(t.Context(), user, "", "Firefox on Linux", true)
		require.NoError(t, err)
		for range 3 {
			require.NoError(t, f.SetName(t.Context(), f.account, "Ada"))
			require.NoError(t, f.SetOperator(t.Context(), f.account, true))
			require.NoError(t, f.EndSessions(t.Context(), f.account, 0))
		}
		u, err := f.User(t.Context(), f.account)
		require.NoError(t, err)
		require.Equal(t, "Ada", u.Name)
		require.True(t, u.Operator)
		log, err := f.ledger.AuditLog(t.Context(), f.account, 0, 100)
		require.NoError(t, err)
		count := map[string]int{}
		for _, line := range log {
			count[line.Action]++
		}
		for _, action := range []string{"user.rename", "user.operator", "session.sign-out-everywhere"} {
			require.Equal(t, 1, count[action], action)
		}
	})
}

// What a stranger's requests are doing when the owner uses the first link, or when the
// password is changed, does not survive it.
func TestRequestsOnTheirWayEndWithTheUser(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		for name, end := range map[string]func(User) error{
			"first link": func(u User) error {
				token, err := f.CreateLink(ctx, u.Account)
				require.NoError(t, err)
				_, first, err := f.UseLink(ctx, token)
				require.True(t, first)
				return err
			},
			"new password": func(u User) error { return f.SetPassword(ctx, u, "another long password", Session{}) },
		} {
			stranger, err := f.SignUp(ctx, strings.ReplaceAll(name, " ", ".")+"@example.com", "correct horse battery")
			require.NoError(t, err)
			secret, _, err := NewTOTP(stranger.Email)
			require.NoError(t, err)
			var wait sync.WaitGroup
			for range 8 {
				wait.Go(func() { _, _ = f.SignIn(ctx, stranger, "", "curl", true) })
			}
			require.NoError(t, end(stranger))
			wait.Wait()
			list, err := f.Sessions(ctx, stranger.Account)
			require.NoError(t, err)
			require.Empty(t, list, name)
			_, err = f.SignIn(ctx, stranger, "", "curl", true)
			require.ErrorIs(t, err, ErrChanged, name)
			require.ErrorIs(t, f.SetPassword(ctx, stranger, "the stranger's password", Session{}), ErrChanged, name)
			_, err = f.SetTOTP(ctx, stranger, secret, f.codeAt(t, secret, 0))
			require.ErrorIs(t, err, ErrChanged, name)
			if name == "first link" {
				require.ErrorIs(t, f.Link(ctx, stranger, "https://login.example", "stranger"), ErrMoreLinked)
			}
			_, err = f.CheckPassword(ctx, stranger.Email, "the stranger's password")
			require.ErrorIs(t, err, ErrWrongPassword, name)
		}
	})
}

// Using a link and setting a password lock rows in the same order, the user's first, so
// that on two replicas they do not wait for each other for ever: while another
// transaction has the user's row, neither has the link's.
func TestUserIsLockedBeforeLinks(t *testing.T) {
	url := pgtest.NeedDatabase(t)
	l, err := ledger.Open(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	f := &fixture{Identity: New(l), url: url}
	u, err := f.SignUp(t.Context(), "new@example.com", "correct horse battery")
	require.NoError(t, err)
	token, err := f.CreateLink(t.Context(), u.Account)
	require.NoError(t, err)
	for name, change := range map[string]func() error{
		"link":     func() error { _, _, err := f.UseLink(t.Context(), token); return err },
		"password": func() error { return f.SetPassword(t.Context(), u, "another long password", Session{}) },
	} {
		db := f.database(t)
		held, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = held.ExecContext(t.Context(), "SELECT 1 FROM users FOR UPDATE")
		require.NoError(t, err)
		for !whileWaiting(t, db, change, func() {
			_, err := held.ExecContext(t.Context(), "SELECT 1 FROM links FOR UPDATE NOWAIT")
			require.NoError(t, err, name)
		}) {
		}
		require.NoError(t, held.Rollback())
	}
}

// whileWaiting runs look while change waits for a lock, and returns after both. It
// returns false if change, which the database lets wait for half a second, was not seen.
func whileWaiting(t *testing.T, db *sql.DB, change func() error, look func()) (seen bool) {
	ended := make(chan error, 1)
	go func() { ended <- change() }()
	for waiting := 0; waiting == 0; {
		query := "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
		require.NoError(t, db.QueryRowContext(t.Context(), query).Scan(&waiting))
		select {
		case <-ended:
			return false
		default:
		}
	}
	look()
	<-ended
	return true
}

func TestLinkExpires(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		token, err := f.CreateLink(t.Context(), f.account)
		require.NoError(t, err)
		f.advance(LinkLife)
		_, _, err = f.UseLink(t.Context(), token)
		require.ErrorIs(t, err, ErrLinkUsed)
	})
}

func TestPasswordAndSessions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, err := f.CheckPassword(ctx, "owner@example.com", "")
		require.ErrorIs(t, err, ErrWrongPassword, "no user yet")
		u := User{Account: f.account, Email: "owner@example.com"}
		require.NoError(t, f.SetPassword(ctx, u, "correct horse battery", Session{}))
		_, err = f.CheckPassword(ctx, "owner@example.com", "correct horse")
		require.ErrorIs(t, err, ErrWrongPassword)
		u, err = f.CheckPassword(ctx, " Owner@Example.com ", "correct horse battery")
		require.NoError(t, err)
		require.True(t, u.HasPassword)

		one, err := f.SignIn(ctx, u, "", "Firefox on Linux", true)
		require.NoError(t, err)
		two, err := f.SignIn(ctx, u, one, "Firefox on Linux", true)
		require.NoError(t, err)
		_, err = f.Session(ctx, one)
		require.ErrorIs(t, err, ErrNoSession, "rotated at sign-in")
		three, err := f.SignIn(ctx, u, "", "Safari on iPhone", true)
		require.NoError(t, err)
		s, err := f.Session(ctx, two)
		require.NoError(t, err)
		list, err := f.Sessions(ctx, u.Account)
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.NoError(t, f.SetPassword(ctx, u, "another long password", s))
		_, err = f.Session(ctx, three)
		require.ErrorIs(t, err, ErrNoSession, "a new password ends the other sessions")
		require.ErrorIs(t, f.EndSession(ctx, u.Account+1, s.ID), ErrNoSession, "another account's")
		require.NoError(t, f.EndSession(ctx, u.Account, s.ID))
		require.ErrorIs(t, f.EndSession(ctx, u.Account, s.ID), ErrNoSession)
	})
}

func TestSessionsExpire(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, err := f.CreateLink(ctx, f.account)
		require.NoError(t, err)
		token, err := f.SignIn(ctx, User{Account: f.account}, "", "curl", true)
		require.NoError(t, err)
		for range 4 {
			f.advance(6 * 24 * time.Hour)
			_, err := f.Session(ctx, token)
			require.NoError(t, err, "in use")
		}
		f.advance(6 * 24 * time.Hour)
		_, err = f.Session(ctx, token)
		require.ErrorIs(t, err, ErrNoSession, "30 days old")

		token, err = f.SignIn(ctx, User{Account: f.account}, "", "curl", true)
		require.NoError(t, err)
		f.advance(sessionIdle)
		_, err = f.Session(ctx, token)
		require.ErrorIs(t, err, ErrNoSession, "idle")

		token, err = f.SignIn(ctx, User{Account: f.account}, "", "curl", false)
		require.NoError(t, err)
		f.advance(sessionPending)
		_, err = f.Session(ctx, token)
		require.ErrorIs(t, err, ErrNoSession, "no second factor")
	})
}

func TestSessionsAreBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, err := f.CreateLink(ctx, f.account)
		require.NoError(t, err)
		for range maxSessions + 5 {
			_, err := f.SignIn(ctx, User{Account: f.account}, "", "curl", true)
			require.NoError(t, err)
		}
		list, err := f.Sessions(ctx, f.account)
		require.NoError(t, err)
		require.Len(t, list, maxSessions)
	})
}

// What anybody can make many of is deleted a few rows at a time once it has expired.
func TestExpiredRowsAreDeletedInSlices(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		for _, insert := range []string{"challenges (hash, data, expires_ns) SELECT 'h' || i, '', 1", "attempts (subject, tat_ns) SELECT 's' || i, 1"} {
			_, err := f.database(t).ExecContext(t.Context(),
				"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250) INSERT INTO "+insert+" FROM n")
			require.NoError(t, err)
		}
		for _, left := range []int{151, 52, 3, 4} {
			_, err := f.begin(t.Context(), ceremony{}, "")
			require.NoError(t, err)
			require.NoError(t, f.Attempt(t.Context(), Limit{What: fmt.Sprint(left), Burst: 1, Every: time.Minute}, ""))
			require.Equal(t, []int{left, left}, []int{f.rows(t, "challenges"), f.rows(t, "attempts")})
		}
	})
}

// Attempts at the same time, as from several replicas, get no more tokens than
// attempts in turn.
func TestAttemptsAreLimited(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		limit := Limit{"test", 5, time.Minute}
		var admitted atomic.Int64
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				if f.Attempt(t.Context(), limit, "somebody") == nil {
					admitted.Add(1)
				}
			})
		}
		wait.Wait()
		require.EqualValues(t, 5, admitted.Load())
		require.NoError(t, f.Attempt(t.Context(), limit, "somebody else"))
		var tooMany *TooManyError
		require.ErrorAs(t, f.Attempt(t.Context(), limit, "somebody"), &tooMany)
		require.Equal(t, time.Minute, tooMany.Wait)
		require.Contains(t, tooMany.Error(), "60 seconds")
		f.advance(time.Minute)
		require.NoError(t, f.Attempt(t.Context(), limit, "somebody"))
		require.Error(t, f.Attempt(t.Context(), limit, "somebody"))
	})
}

// However many networks take turns, an account's guesses are bounded by the hour, and a
// single network's leave the account's bucket to others.
func TestGuessesAtAnAccountAreBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		guess := func(networks int) (admitted int) {
			for range 60 {
				f.advance(time.Minute)
				for n := range networks {
					from := Caller{Address: fmt.Sprintf("address %d", n), Network: fmt.Sprintf("network %d", n)}
					if f.AttemptPassword(t.Context(), "owner@example.com", from) == nil {
						admitted++
					}
				}
			}
			return admitted
		}
		require.LessOrEqual(t, guess(1), PasswordsOfNetwork.Burst+30)
		elsewhere := Caller{Address: "elsewhere", Network: "elsewhere"}
		require.NoError(t, f.AttemptPassword(t.Context(), "owner@example.com", elsewhere))
		require.LessOrEqual(t, guess(8), PasswordsOfAccount.Burst+120)
	})
}

func TestPasswordsThatAreRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		u := User{Account: f.account, Email: "a.long.name@example.com"}
		for password, reason := range map[string]string{
			"short": "shorter than 10", string(make([]byte, 257)): "longer than 256", "a.long.name": "must not be the email",
			"aaaaaaaaaaaaaaa": "repeats", "\xff2345678901": "UTF-8",
			"password12": "commonest", "PassWord12": "commonest", "qwertyuiop": "commonest", "1234567890": "commonest", "Password2026!": "commonest",
			"sunshine99!!": "commonest", "a.long.name1": "must not be the email", "AddrSpec2026": "name of the service",
		} {
			var input *InputError
			err := f.SetPassword(t.Context(), u, password, Session{})
			require.True(t, errors.As(err, &input), "%q", password)
			require.Contains(t, input.Sentence, reason)
		}
		for _, password := range []string{"correct horse battery", "sunshine over password12", "password-or-not", "michael8473920184", "пароль, и не один"} {
			require.NoError(t, f.SetPassword(t.Context(), u, password, Session{}), password)
		}
	})
}
