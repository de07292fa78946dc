package identity

import (
	"database/sql"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

func (f *fixture) database(t *testing.T) *sql.DB { return pgtest.SQL(t, f.url) }

func (f *fixture) rows(t *testing.T, table string) (n int) {
	require.NoError(t, f.database(t).QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

func eachDatabase(t *testing.T, test func(*testing.T, *fixture)) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		clock := new(atomic.Int64)
		clock.Store(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC).UnixNano())
		now := func() time.Time { return time.Unix(0, clock.Load()) }
		l := must(ledger.Open(t.Context(), url, ledger.WithClock(now)))(t)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		a := must(l.CreateAccount(t.Context(), "owner@example.com", book.Terms{}))(t)
		test(t, &fixture{New(l), a.ID, clock, url})
	})
}

func atOnce(n int, do func(n int) error) int {
	var count atomic.Int64
	var wait sync.WaitGroup
	for n := range n {
		wait.Go(func() {
			if do(n) == nil {
				count.Add(1)
			}
		})
	}
	wait.Wait()
	return int(count.Load())
}

func (f *fixture) user(t *testing.T) User { return must(f.User(t.Context(), f.account))(t) }

func (f *fixture) withUser(t *testing.T) User {
	must(f.CreateLink(t.Context(), f.account))(t)
	return f.user(t)
}

func (f *fixture) signIn(t *testing.T, complete bool) string {
	return must(f.SignIn(t.Context(), f.user(t), "", "curl", complete))(t)
}

func TestLinkSignsInOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		first := must(f.CreateLink(t.Context(), f.account))(t)
		token := must(f.CreateLink(t.Context(), f.account))(t)
		_, _, err := f.UseLink(t.Context(), first)
		require.ErrorIs(t, err, ErrLinkUsed, "a later link ends the earlier one")
		u, err := f.LinkUser(t.Context(), token)
		require.NoError(t, err, "looking does not use it up")
		require.Equal(t, "owner@example.com", u.Email)
		require.Equal(t, 1, atOnce(8, func(int) error { _, _, err := f.UseLink(t.Context(), token); return err }))
		token = must(f.CreateLink(t.Context(), f.account))(t)
		f.advance(LinkLife)
		_, _, err = f.UseLink(t.Context(), token)
		require.ErrorIs(t, err, ErrLinkUsed, "expired")
	})
}

// Only the first link of an account that was signed up for ends what was set up before.
func TestLaterLinksEndNothing(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx, made := t.Context(), f.account
		signedUp := must(f.SignUp(ctx, "new@example.com", "correct horse battery"))(t).Account
		for n, account := range []int64{made, signedUp, signedUp} {
			f.account = account
			f.withUser(t)
			f.register(t, newDevice(), "phone")
			session := f.signIn(t, true)
			_, first, err := f.UseLink(ctx, must(f.CreateLink(ctx, account))(t))
			require.NoError(t, err)
			require.Equal(t, n == 1, first)
			require.Equal(t, first, errOf(f.Session(ctx, session)) == ErrNoSession)
			require.Equal(t, first, f.user(t).Passkeys == 0)
		}
	})
}

// A change that changes nothing leaves no line in the audit log.
func TestUnchangedIsNotAudited(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.withUser(t)
		f.signIn(t, true)
		for range 3 {
			require.NoError(t, f.SetName(t.Context(), f.account, "Ada"))
			require.NoError(t, f.SetOperator(t.Context(), f.account, true))
			require.NoError(t, f.EndSessions(t.Context(), f.account, 0))
		}
		u := f.user(t)
		require.Equal(t, "Ada", u.Name)
		require.True(t, u.Operator)
		count := map[string]int{}
		for _, line := range must(f.ledger.AuditLog(t.Context(), f.account, 0, 100))(t) {
			count[line.Action]++
		}
		for _, action := range []string{"user.rename", "user.operator", "session.sign-out-everywhere"} {
			require.Equal(t, 1, count[action], action)
		}
	})
}

// What a stranger's requests are doing when the owner uses the first link, changes the
// password or turns an authenticator app on does not survive it.
func TestRequestsOnTheirWayEndWithTheUser(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx, p := t.Context(), f.passkeys(t)
		for name, end := range map[string]func(User) error{
			"first link": func(u User) error {
				token := must(f.CreateLink(ctx, u.Account))(t)
				_, first, err := f.UseLink(ctx, token)
				require.True(t, first)
				return err
			},
			"new password": func(u User) error { return f.SetPassword(ctx, u, "another long password") },
			"new app":      func(u User) error { return f.setTOTPAs(t, u) },
		} {
			email := strings.ReplaceAll(name, " ", ".") + "@example.com"
			stranger := must(f.SignUp(ctx, email, "correct horse battery"))(t)
			secret, phone := newSecret(t), newDevice()
			options, state, err := p.BeginRegister(ctx, "browser", stranger)
			require.NoError(t, err)
			var wait sync.WaitGroup
			for range 8 {
				wait.Go(func() { _, _ = f.SignIn(ctx, stranger, "", "curl", true) })
			}
			require.NoError(t, end(stranger))
			wait.Wait()
			require.Empty(t, must(f.Sessions(ctx, stranger.Account))(t), name)
			require.ErrorIs(t, errOf(f.SignIn(ctx, stranger, "", "curl", true)), ErrChanged, name)
			require.ErrorIs(t, f.SetPassword(ctx, stranger, "the stranger's password"), ErrChanged, name)
			require.ErrorIs(t, errOf(f.SetTOTP(ctx, stranger, secret, f.codeAt(t, secret, 0))), ErrChanged, name)
			require.ErrorIs(t, f.RemoveTOTP(ctx, stranger), ErrChanged, name)
			require.ErrorIs(t, f.Link(ctx, stranger, "https://login.example", "stranger"), ErrChanged, name)
			require.ErrorIs(t, p.FinishRegister(ctx, "browser", stranger, state, "phone", phone.Create(t, options)), ErrChanged, name)
			_, err = f.CheckPassword(ctx, email, "the stranger's password", Caller{})
			require.ErrorIs(t, err, ErrWrongPassword, name)
		}
	})
}

// Each change that takes away what may have opened a session, or asks more of a sign-in,
// ends the other sessions of the account.
func TestOtherSessionsEnd(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx, issuer := t.Context(), "https://id.example"
		f.withUser(t)
		for _, change := range []struct {
			name string
			ends bool
			make func(User) error
		}{
			{"a password", true, func(u User) error { return f.SetPassword(ctx, u, "another long password") }},
			{"an app", true, func(u User) error { return f.setTOTPAs(t, u) }},
			{"another app", true, func(u User) error { return f.setTOTPAs(t, u) }},
			{"new recovery codes", true, func(u User) error { return errOf(f.RenewRecoveryCodes(ctx, u)) }},
			{"no app", true, func(u User) error { return f.RemoveTOTP(ctx, u) }},
			{"a passkey", false, func(User) error { f.register(t, newDevice(), "phone"); return nil }},
			{"no passkey", true, func(u User) error {
				list := must(f.ListPasskeys(ctx, f.account))(t)
				require.ErrorIs(t, f.RemovePasskey(ctx, u, "unknown"), ErrNoPasskey)
				return f.RemovePasskey(ctx, u, list[0].ID)
			}},
			{"an identity", false, func(u User) error { return f.Link(ctx, u, issuer, "ada") }},
			{"no identity", true, func(u User) error { return f.Unlink(ctx, u, issuer, "ada") }},
		} {
			own, other, incomplete := f.signIn(t, true), f.signIn(t, true), f.signIn(t, false)
			s := must(f.Session(ctx, own))(t)
			u := f.user(t)
			u.From.Session = s.ID
			require.NoError(t, change.make(u), change.name)
			for token, ends := range map[string]bool{own: false, other: change.ends, incomplete: change.ends} {
				require.Equal(t, ends, errOf(f.Session(ctx, token)) == ErrNoSession, change.name)
			}
			f.advance(time.Hour)
		}
	})
}

// Using a link and setting a password lock rows in the same order, the user's first, so
// that on two replicas they do not wait for each other for ever: while another
// transaction has the user's row, neither has the link's. An attempt waits for no other's
// bucket to delete it.
func TestUserIsLockedBeforeLinks(t *testing.T) {
	url := pgtest.NeedDatabase(t)
	l := must(ledger.Open(t.Context(), url))(t)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	f := &fixture{Identity: New(l), url: url}
	u := must(f.SignUp(t.Context(), "new@example.com", "correct horse battery"))(t)
	token := must(f.CreateLink(t.Context(), u.Account))(t)
	for name, change := range map[string]func() error{
		"link":     func() error { _, _, err := f.UseLink(t.Context(), token); return err },
		"password": func() error { return f.SetPassword(t.Context(), u, "another long password") },
	} {
		db := f.database(t)
		held := must(db.BeginTx(t.Context(), nil))(t)
		must(held.ExecContext(t.Context(), "SELECT 1 FROM users FOR UPDATE"))(t)
		for !whileWaiting(t, db, change, func() {
			_, err := held.ExecContext(t.Context(), "SELECT 1 FROM links FOR UPDATE NOWAIT")
			require.NoError(t, err, name)
		}) {
		}
		require.NoError(t, held.Rollback())
	}
	db := f.database(t)
	must(db.ExecContext(t.Context(), "INSERT INTO attempts (subject, tat_ns) VALUES ('old', 1), ('older', 0)"))(t)
	held := must(db.BeginTx(t.Context(), nil))(t)
	must(held.ExecContext(t.Context(), "SELECT 1 FROM attempts WHERE subject = 'old' FOR UPDATE"))(t)
	require.NoError(t, f.Attempt(t.Context(), Links, Caller{}))
	require.NoError(t, held.Rollback())
	require.Equal(t, 2, f.rows(t, "attempts"), "the new one, and the one that was locked")
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

func TestPasswordAndSessions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		check := func(password string) error {
			return errOf(f.CheckPassword(ctx, "owner@example.com", password, Caller{}))
		}
		require.ErrorIs(t, check(""), ErrWrongPassword, "no user yet")
		u := User{Account: f.account, Email: "owner@example.com"}
		require.NoError(t, f.SetPassword(ctx, u, "correct horse battery"))
		require.ErrorIs(t, check("correct horse"), ErrWrongPassword)
		u = must(f.CheckPassword(ctx, " Owner@Example.com ", "correct horse battery", Caller{}))(t)
		require.True(t, u.HasPassword)
		one := f.signIn(t, true)
		two := must(f.SignIn(ctx, u, one, "Firefox on Linux", true))(t)
		require.ErrorIs(t, errOf(f.Session(ctx, one)), ErrNoSession, "rotated at sign-in")
		f.signIn(t, true)
		s := must(f.Session(ctx, two))(t)
		require.True(t, s.Fresh(s.Created.Add(ConfirmFor-1)))
		require.False(t, s.Fresh(s.Created.Add(ConfirmFor)))
		require.Len(t, must(f.Sessions(ctx, u.Account))(t), 2)
		require.ErrorIs(t, f.EndSession(ctx, u.Account+1, s.ID), ErrNoSession, "another account's")
		require.NoError(t, f.EndSession(ctx, u.Account, s.ID))
		require.ErrorIs(t, f.EndSession(ctx, u.Account, s.ID), ErrNoSession)
	})
}

func TestSessionsExpire(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.withUser(t)
		ended := func(token string) bool { return errOf(f.Session(t.Context(), token)) == ErrNoSession }
		token := f.signIn(t, true)
		for range 4 {
			f.advance(6 * 24 * time.Hour)
			require.False(t, ended(token), "in use")
		}
		f.advance(6 * 24 * time.Hour)
		require.True(t, ended(token), "30 days old")
		token = f.signIn(t, true)
		f.advance(sessionIdle)
		require.True(t, ended(token), "idle")
		token = f.signIn(t, false)
		f.advance(sessionPending)
		require.True(t, ended(token), "no second factor")
		for range maxSessions + 5 {
			f.signIn(t, true)
		}
		require.Len(t, must(f.Sessions(t.Context(), f.account))(t), maxSessions)
		require.Equal(t, maxSessions, f.rows(t, "sessions"), "expired ones are deleted")
		for range maxSessions + 5 {
			f.signIn(t, false)
		}
		require.Equal(t, 2*maxSessions, f.rows(t, "sessions"), "who has the password alone ends none of the owner's")
	})
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		require.NoError(t, err)
		return v
	}
}

func errOf[T any](_ T, err error) error { return err }
