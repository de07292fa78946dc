package ledger

import (
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// oldLedger returns a fixture for a copy of the ledger that commit 3a41b124 made, which
// archive/testdata/README.md describes. It is not opened yet.
func oldLedger(t *testing.T, url string) *fixture {
	t.Helper()
	path, isSQLite := strings.CutPrefix(url, "sqlite:")
	name := "testdata/3a41b124.sql.gz"
	if isSQLite {
		name = "archive/testdata/3a41b124.db.gz"
	}
	file := must(os.Open(name))(t)
	defer file.Close()
	unpacked := must(gzip.NewReader(file))(t)
	content := must(io.ReadAll(unpacked))(t)
	f := &fixture{T: t, ctx: t.Context(), url: url, clock: clockAt("2026-11-28T17:47:00Z"), account: 1,
		secret: "ask_eKV91M5LC7OUoFeeBUgOoBi6wAB8Kcy22gIxIw"}
	if isSQLite {
		require.NoError(t, os.WriteFile(path, content, 0o600))
	} else {
		f.exec(string(content))
	}
	return f
}

// schema returns the definitions of the database's tables, constraints and indexes.
func (f *fixture) schema() (list []string) {
	f.Helper()
	query := "SELECT name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1"
	if !strings.HasPrefix(f.url, "sqlite:") {
		query = `SELECT concat_ws(' ', table_name, column_name, ordinal_position, data_type, is_nullable, column_default,
		                          is_identity)
		           FROM information_schema.columns WHERE table_schema = current_schema() UNION ALL
		         SELECT concat_ws(' ', conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid))
		           FROM pg_constraint WHERE connamespace = current_schema()::regnamespace UNION ALL
		         SELECT replace(indexdef, schemaname || '.', '')
		           FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1`
	}
	layout := regexp.MustCompile(`--[^\n]*|\s+`)
	for _, text := range f.strings(query) {
		list = append(list, layout.ReplaceAllString(text, ""))
	}
	return list
}

// A ledger of commit 3a41b124 is upgraded with its keys, usage, records and policies, and gets
// the schema of a new one.
func TestUpgrade(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := oldLedger(t, url)
		before := f.rowsOf(1)
		f.Ledger = open(t, url, withFake(f.clock))
		require.Equal(t, before, f.rowsOf(1))
		fresh := &fixture{T: t, ctx: t.Context(), url: emptyLike(t, url)}
		open(t, fresh.url)
		require.Equal(t, fresh.schema(), f.schema())
		version, state := "SELECT max(version), 'ok' FROM schema_version", ""
		if strings.HasPrefix(url, "sqlite:") {
			version = "SELECT user_version, integrity_check FROM pragma_user_version, pragma_integrity_check"
		}
		var n int
		f.queryRow(version, &n, &state)
		require.Equal(t, store.Version, n)
		require.Equal(t, "ok", state)

		require.EqualValues(t, 7, f.used())
		require.Equal(t, book.Tally{Points: 7, Requests: 5, Found: book.Found{Valid: 6, Invalid: 1, Role: 1}}, f.history())
		policies := must(f.Policies(f.ctx, 1))(t)
		require.Len(t, policies, 2)
		require.Equal(t, []any{"sign-up", int64(4)}, []any{policies[1].Name, policies[1].Version})
		key := must(f.Key(f.ctx, 1, 1))(t)
		require.Equal(t, "sign-up", key.Policy)
		for secret, want := range map[string]Kind{
			f.secret: Good,
			"ask_g0yUPWssJGIkpelcLIcjMMNtQQOPpU314Knh05": Good,       // rotated, in its grace
			"ask_gN6ssQJVqX18u4Osm0x4EtJs3pVNcify1y5yiQ": Good,       // the secret that replaced it
			"ask_HyNeqKV9ly8BnaNYYUWwtXp2Z7Wd73FF3R0WQQ": UnknownKey, // revoked
		} {
			require.Equal(t, want, f.requestWith(secret, 1, nil).Kind)
		}
		for secret, origin := range map[string]string{
			"ask_Kf6pS3w1cJBf7PJRz18u3VfkMRcEbzMd4ajqad": "", // of the test key
			"ask_3X23uX71nJti8i3Pf6rLPmJMwCOhQUO813sBcN": "https://shop.example.com",
		} {
			r, d := must2(f.Begin(f.ctx, secret, origin))(t)
			require.Equal(t, Good, d.Kind)
			require.Equal(t, origin == "", r.Test())
			r.End()
		}
		require.EqualValues(t, 10, f.used())

		// package api derives records so.
		const idempotencyKey = "11111111-2222-4333-8444-555555555555"
		const body = `{"emails": ["jane@example.com", "info@example.org", "no one"]}`
		once := &Idempotency{ID: sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, 1), idempotencyKey...))}
		mac := hmac.New(sha256.New, []byte(idempotencyKey))
		mac.Write([]byte(body))
		mac.Sum(once.Body[:0])
		d := f.requestWith(f.secret, 3, once)
		require.Equal(t, Replayed, d.Kind)
		require.NotEmpty(t, d.Response)

		others := f.rowsOf(2)
		require.NoError(t, f.DeleteAccount(f.ctx, 1))
		f.requireNoRows()
		require.Equal(t, others, f.rowsOf(2))
		require.Equal(t, Good, f.requestWith("ask_MLawFEXt8hWrJ0RH2If7W5P41LwQOBeV42gM8X", 1, nil).Kind)
	})
}
