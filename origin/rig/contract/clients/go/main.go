// Command use uses the client that oapi-codegen makes of openapi.json, which is
// in the directory client, and prints typed members of its responses.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"example.org/use/client"
)

// connect returns a client that sends a key.
func connect(key string) *client.ClientWithResponses {
	send := client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		if key != "" {
			r.Header.Set("X-API-Key", key)
		}
		return nil
	})
	c, err := client.NewClientWithResponses(os.Getenv("ADDRSPEC_URL"), send)
	check(err)
	return c
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// text returns what a member points to, or null.
func text[T ~string](member *T) T {
	if member == nil {
		return "null"
	}
	return *member
}

func main() {
	ctx, c, poor := context.Background(), connect(os.Getenv("ADDRSPEC_KEY")), connect(os.Getenv("ADDRSPEC_POOR_KEY"))
	found, err := c.CheckEmailWithResponse(ctx, "jane.doe@mail.example", nil)
	check(err)
	fmt.Printf("single %s mx=%t role=%s\n", *found.JSON200.Normalized, found.JSON200.Mx, text(found.JSON200.Role))
	found, err = c.CheckEmailWithResponse(ctx, "info@mail.example", nil)
	check(err)
	fmt.Println("role", text(found.JSON200.Role))
	found, err = c.CheckEmailWithResponse(ctx, "jane.@mail.example", nil)
	check(err)
	fmt.Println("invalid", found.JSON400.Status, found.JSON400.Code)

	body := client.BatchRequest{Emails: []string{"jane@mail.example", "jane.@mail.example", "jane@servfail.example"}}
	done, err := c.CheckEmailsWithResponse(ctx, nil, body)
	check(err)
	b := done.JSON200
	fmt.Printf("batch total=%d valid=%d invalid=%d errors=%d points=%d\n", b.Total, b.ValidCount, b.InvalidCount,
		b.ErrorCount, b.UsagePoints)
	for _, i := range b.Results[1:] {
		switch i.Status {
		case client.Success:
			fmt.Printf("item %s %s normalized=%s\n", i.Email, i.Status, text(i.Result.Normalized))
		case client.Error:
			fmt.Println("item", i.Email, i.Status, i.Error.Code)
		}
	}

	u, err := c.GetUsageWithResponse(ctx, nil)
	check(err)
	if u.Headers200.XUsageCurrent == nil || *u.Headers200.XUsageCurrent != u.JSON200.Points.Used || u.JSON200.Points.Limit != nil {
		log.Fatal("body and headers differ")
	}
	fmt.Printf("usage used=%d limit=null\n", u.JSON200.Points.Used)

	denied, err := connect("").CheckEmailWithResponse(ctx, "jane@mail.example", nil)
	check(err)
	fmt.Println("no key", denied.JSON401.Status, denied.JSON401.Code)
	refused, err := poor.CheckEmailsWithResponse(ctx, nil, client.BatchRequest{Emails: []string{"a@mail.example",
		"b@mail.example"}})
	check(err)
	p := refused.JSON402.Error
	fmt.Printf("too few points %d %s required=%d remaining=%d\n", refused.StatusCode(), p.Code, p.Required, p.Remaining)
	late, err := poor.CheckEmailWithResponse(ctx, "jane@mail.example", nil)
	check(err)
	fmt.Println("too few points", late.JSON429.Status, late.JSON429.Title)
}
