package command

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/contract/description"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// TestHookDescription compares responses to sign-up systems with openapi-hooks.json.
func TestHookDescription(t *testing.T) {
	t.Parallel()
	file := hooksFile(t, anyObject{"rate": 1}, anyObject{"name": "auth", "format": "supabase"})
	s := surveyed{start(t, "--dns", contract.Serve(t), "--hooks", file), description.NewFile(t, "../api/openapi-hooks.json")}
	s.newKey(t)
	const email = `{"email":"jane@mail.example"}`
	uuid := "8b34dcdd-9df1-4c10-850a-b3277c653040"
	for _, c := range []struct {
		hook, id, body string
		status         int
		header         string
	}{
		{"auth", "msg_1", supabaseBody(uuid, "jane@mail.example", "{}"), 200, ""},
		{"auth", "msg_2", supabaseBody(uuid, "jane@mail.example", "{}"), 200, ""},
		{"auth", "msg_3", supabaseBody("x"+uuid, "jane@none.example", "{}"), 200, ""},
		{"auth", "msg_4", supabaseBody(uuid, "other@mail.example", "{}"), 422, ""},
		{"auth", "msg_5", email, 400, ""},
		{"signup", "msg_1", email, 415, "Content-Type: text/plain"},
		{"signup", "msg_1", strings.Repeat(" ", 300<<10), 413, ""},
		{"signup", "msg_1", email, 401, "Webhook-Signature: v1,x"},
		{"signup", "msg_1", email, 200, ""},
		{"signup", "msg_2", `{"email":"jane..doe@mail.example"}`, 200, ""},
	} {
		require.Equal(t, c.status, s.send(t, hookRequest(t, c.hook, c.id, c.body, c.header)), c)
	}
	signUp := func(n int) int { return s.send(t, hookRequest(t, "signup", fmt.Sprint("msg_", n), email, "")) }
	// one a second, which a slow machine does not exceed at once
	for n := 3; signUp(n) != http.StatusTooManyRequests; n++ {
		require.Less(t, n, 1000)
	}
	t.Run("malformed", s.malformed)
	t.Run("crowded", func(t *testing.T) {
		surveyed{start(t, "--hooks", file, "--max-connections", "1"), s.survey}.crowded(t)
	})
	s.survey.RequireComplete(t, neverResponded)
}

// hookRequest returns a signed call. header replaces one of the usual ones.
func hookRequest(t *testing.T, hook, id, body, header string) origintest.Request {
	t.Helper()
	var lines []string
	for name, values := range signed(t, hookSecret, id, time.Now(), body) {
		lines = append(lines, name+": "+values[0])
	}
	return origintest.Request{Method: http.MethodPost, Target: "/v1/hooks/" + hook, Body: body, Header: withHeader(header, lines...)}
}
