package docs

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.RemoveShared()
	os.Exit(code)
}

// statements returns those of a file that the guide "One account a mailbox" shows.
func statements(t *testing.T, file string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimSpace(string(readFile(t, "examples/one-account/"+file))), ";"), ";")
}

// With the statements of the guide a mailbox has one account, whatever is typed, also after a change of email. In a
// table with accounts, those that share a mailbox keep them, and no further one is made.
func TestOneAccount(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		db, file := pgtest.SQL(t, url), "postgresql.sql"
		if strings.HasPrefix(url, "sqlite:") {
			file = "sqlite.sql"
		}
		list := statements(t, file)
		require.Len(t, list, 9)
		create, insert, find, change, add, fill, shared, keep, index := list[0], list[1], list[2], list[3], list[4], list[5], list[6], list[7], list[8]
		run := func(statement string, values ...any) error {
			_, err := db.ExecContext(t.Context(), statement, values...)
			return err
		}
		rows := func(statement string, values ...any) (n int) {
			found, err := db.QueryContext(t.Context(), statement, values...)
			require.NoError(t, err)
			defer found.Close()
			for found.Next() {
				n++
			}
			require.NoError(t, found.Err())
			return n
		}
		const canonical = "janedoe@gmail.com"
		require.NoError(t, run(create))
		require.Equal(t, 1, rows(insert, "jane.doe@gmail.com", canonical))
		require.Zero(t, rows(insert, "JaneDoe+2@googlemail.com", canonical))
		require.Equal(t, 1, rows(insert, "josé@example.org", "josé@example.org"))
		require.Equal(t, 1, rows(insert, "jose@example.org", "jose@example.org"), "another mailbox")
		require.Equal(t, 1, rows(insert, "from.before@example.org", nil))
		require.Equal(t, 1, rows(insert, "not.checked@example.org", nil))
		var id int64
		var email string
		require.NoError(t, db.QueryRowContext(t.Context(), find, canonical).Scan(&id, &email))
		require.Equal(t, "jane.doe@gmail.com", email, "as typed")
		require.NoError(t, run(change, "jane.d.oe@gmail.com", canonical, id), "the person's own")
		require.Error(t, run(change, "jose@example.org", "jose@example.org", id))
		require.NoError(t, run(change, "jane@example.org", "jane@example.org", id))

		require.NoError(t, run("DROP TABLE users"))
		require.NoError(t, run("CREATE TABLE users (id bigint PRIMARY KEY, email text)"))
		require.NoError(t, run("INSERT INTO users VALUES (1, 'jane.doe@gmail.com'), (2, 'janedoe@gmail.com'), (3, 'joe@example.org'), (4, 'x')"))
		require.NoError(t, run(add))
		for id, canonical := range map[int]any{1: canonical, 2: canonical, 3: "joe@example.org", 4: nil} {
			require.NoError(t, run(fill, canonical, id))
		}
		require.Error(t, run(index), "two accounts share a mailbox")
		require.Equal(t, 1, rows(shared))
		require.NoError(t, run(keep))
		require.Zero(t, rows(shared))
		require.NoError(t, run(index))
		require.NoError(t, db.QueryRowContext(t.Context(), find, canonical).Scan(&id, &email))
		require.EqualValues(t, 1, id, "the oldest")
		require.Equal(t, 4, rows("SELECT id FROM users"), "all keep their accounts")
		require.Error(t, run("INSERT INTO users VALUES (5, 'j.anedoe@gmail.com', 'janedoe@gmail.com')"))
	})
}
