package dashboard

import (
	_ "embed"
	"encoding/json"

	"github.com/addrspec/addrspec/origin/dashboard/page"
)

// frontExample is a result that the front door shows, as the API gives it: it always looks
// MX up, and the domain has an exchange.
//
//go:embed example.json
var frontExample string

// exampleAddress is the address of frontExample.
const exampleAddress = "jane.doe+news@hotmial.com"

// A frontView is the front door.
type frontView struct {
	Address    string          `json:"address"`
	Result     json.RawMessage `json:"result"` // of Address
	URL        string          `json:"url"`
	Repository string          `json:"repository"`
}

// frontDoor shows what addrspec is. The check that it offers runs in the browser.
func frontDoor(v *page.Visit) (any, error) {
	return frontView{exampleAddress, json.RawMessage(frontExample), v.Link("/v1/email/" + exampleAddress),
		"https://github.com/addrspec/addrspec"}, nil
}
