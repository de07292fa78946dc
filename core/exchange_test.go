package core

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

// exchangeOf returns the value of exchange for a host and its exchanges, separated by
// spaces, and whether all are disposable.
func exchangeOf(t testing.TB, c *Checker, host, exchanges string, record AddressRecord) (json string, disposable bool) {
	x := c.Exchanges([]byte(host))
	for _, name := range bytes.Fields([]byte(exchanges)) {
		x.Add(name)
	}
	return strings.TrimPrefix(string(x.AppendJSON([]byte("before"), record)), "before"), x.Disposable()
}

func TestExchange(t *testing.T) {
	c := New(lists.Default())
	const none = `"provider":null,"entry":null,`
	for _, e := range []struct {
		host, exchanges, want string
		disposable            bool
	}{
		// Every exchange is at or below a name that the lists call disposable.
		{"burner.example", "mail.mailinator.com", `{"class":"temporary","provider":null,"entry":"mailinator.com","host":"mail.mailinator.com","address_record":null}`, true},
		{"burner.example", "mailinator.com x.yopmail.com", `{"class":"temporary","provider":null,"entry":"mailinator.com","host":"mailinator.com","address_record":null}`, true},
		// An exchange's name may say what it is; an entry without proof says nothing.
		{"burner.example", "mx.tempmail-of-jane.com", `{"class":"temporary","provider":null,"entry":"tempmail-of-jane.com","host":"mx.tempmail-of-jane.com","address_record":null}`, true},
		{"burner.example", "mx.02.pl", `{"class":"unknown",` + none + `"host":"mx.02.pl","address_record":null}`, false},
		// Mixed ones say nothing, in either order, nor does a set that was cut.
		{"burner.example", "mail.mailinator.com mx.burner.test", `{"class":"unknown",` + none + `"host":"mail.mailinator.com","address_record":null}`, false},
		{"burner.example", "mx.burner.test mail.mailinator.com", `{"class":"unknown",` + none + `"host":"mx.burner.test","address_record":null}`, false},
		{"burner.example", "mail.mailinator.com *", `{"class":"unknown",` + none + `"host":"mail.mailinator.com","address_record":null}`, false},
		// Nor does an exchange of the domain's own.
		{"mailinator.com", "mail.mailinator.com", `{"class":"own",` + none + `"host":"mail.mailinator.com","address_record":null}`, false},
		{"mailinator.com", "mailinator.com", `{"class":"own",` + none + `"host":"mailinator.com","address_record":null}`, false},
		{"burner.example", "burner.example mailinator.com", `{"class":"own",` + none + `"host":"burner.example","address_record":null}`, false},
		{"linator.com", "mailinator.com", `{"class":"temporary","provider":null,"entry":"mailinator.com","host":"mailinator.com","address_record":null}`, true},
		// A label may have underscores, as where an MX record names a host that Cloudflare proxies.
		{"shop.example", "_dc-mx.0a1b2c3d4e5f.shop.example", `{"class":"own",` + none + `"host":"_dc-mx.0a1b2c3d4e5f.shop.example","address_record":null}`, false},
		{"burner.example", "_dc-mx.0a1b2c3d4e5f.mailinator.com", `{"class":"temporary","provider":null,"entry":"mailinator.com","host":"_dc-mx.0a1b2c3d4e5f.mailinator.com","address_record":null}`, true},
		{"shop.example", "a_b._c.aspmx.l.google.com", `{"class":"suite","provider":"Google Workspace","entry":"aspmx.l.google.com","host":"a_b._c.aspmx.l.google.com","address_record":null}`, false},
		// A row names the provider.
		{"shop.example", "aspmx.l.google.com alt1.aspmx.l.google.com", `{"class":"suite","provider":"Google Workspace","entry":"aspmx.l.google.com","host":"aspmx.l.google.com","address_record":null}`, false},
		{"shop.example", "alt1.aspmx.l.google.com mail.mailinator.com", `{"class":"suite","provider":"Google Workspace","entry":"aspmx.l.google.com","host":"alt1.aspmx.l.google.com","address_record":null}`, false},
		{"google.com", "aspmx.l.google.com", `{"class":"suite","provider":"Google Workspace","entry":"aspmx.l.google.com","host":"aspmx.l.google.com","address_record":null}`, false},
		{"shop.example", "mx.shop.test", `{"class":"unknown",` + none + `"host":"mx.shop.test","address_record":null}`, false},
		{"shop.example", "aspmx.l.google.com.test", `{"class":"unknown",` + none + `"host":"aspmx.l.google.com.test","address_record":null}`, false},
		{"shop.example", "xaspmx.l.google.com", `{"class":"unknown",` + none + `"host":"xaspmx.l.google.com","address_record":null}`, false},
	} {
		for _, record := range []AddressRecord{AddressUnknown, AddressAbsent, AddressPresent} { // which say nothing beside exchanges
			got, disposable := exchangeOf(t, c, e.host, e.exchanges, record)
			require.Equal(t, e.want, got)
			require.Equal(t, e.disposable, disposable, e.exchanges)
		}
	}
	for record, want := range map[AddressRecord]string{AddressUnknown: "null", AddressAbsent: "false", AddressPresent: "true"} {
		got, disposable := exchangeOf(t, c, "shop.example", "", record)
		require.Equal(t, `{"class":"unknown","provider":null,"entry":null,"host":null,"address_record":`+want+`}`, got)
		require.False(t, disposable)
	}
}

func TestClassed(t *testing.T) {
	c := New(lists.Default())
	for _, email := range []string{"a@mailinator.com", "a@gmail.com", "a@duck.com", "a@ibm.com", "a@users.noreply.github.com", "a@noreply.iana.org"} {
		f := c.Check([]byte(email))
		require.True(t, f.Classed, email)
	}
	for _, email := range []string{"a@iana.org", "a@gmial.com", "a@[192.0.2.1]", "a", "a@02.pl", "a@a-name.hair"} {
		f := c.Check([]byte(email))
		require.False(t, f.Classed, email)
	}
}

// Looking at exchanges allocates nothing if there is room for the JSON.
func TestExchangeAllocatesNothing(t *testing.T) {
	c := New(lists.Default())
	names, host, memory := bytes.Fields([]byte("mail.mailinator.com aspmx.l.google.com mx.example")), []byte("shop.example"), make([]byte, 0, 1024)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		x := c.Exchanges(host)
		for _, name := range names {
			x.Add(name)
		}
		x.AppendJSON(memory, AddressAbsent)
	}))
}

func FuzzExchange(f *testing.F) {
	c := New(lists.Default())
	f.Add("shop.example", "mail.mailinator.com aspmx.l.google.com", byte(AddressPresent))
	f.Add("shop.example", "* . .. \" \\ \xff", byte(AddressAbsent))
	f.Add("", "", byte(AddressUnknown))
	f.Fuzz(func(t *testing.T, host, exchanges string, record byte) {
		value, disposable := exchangeOf(t, c, host, exchanges, AddressRecord(record))
		var got struct {
			Class                 string
			Provider, Entry, Host *string
			AddressRecord         *bool `json:"address_record"`
		}
		require.NoError(t, json.Unmarshal([]byte(value), &got), value)
		require.Equal(t, disposable, got.Class == "temporary")
		require.Equal(t, len(strings.Fields(exchanges)) == 0, got.Host == nil)
		require.Equal(t, got.Host == nil && AddressRecord(record) != AddressUnknown, got.AddressRecord != nil)
		if got.Class == "unknown" || got.Class == "own" {
			require.Nil(t, got.Entry)
		}
	})
}
