// Package dashboard serves the pages that people see: the front door, the
// reference, and the account dashboard. It is a client of the rest: it checks
// addresses by calling the API's handler with a key of the account, so points,
// rates and refusals are the API's own; packages api and mx and the decisions of
// package ledger know nothing of it, and serve --dashboard=off leaves it out.
//
// # Pages and the JSON API
//
// A page is a path with a function that returns its data (route.go). A browser
// gets the data in a template; a request with "Accept: application/json" gets it
// as JSON. A form is a POST; a JSON body with the same fields does the same. So
// whatever a person can do here, a program can, behind the same session rules.
//
// # What protects it
//
// Each request passes the steps of serve.go: a bound on requests at a time, size
// limits, the cross-origin guard, session, token, rights. Pages need no inline
// script or style, and the Content-Security-Policy allows none. Templates escape
// by context (html/template). Nothing about an account is found by an ID alone:
// every query names the session's account as well.
//
// Checks wait for DNS, and exports for the client's download. They have slots of
// their own (slot.go), so that pages never wait for them.
//
// Pages are rendered to memory first, so an error never follows half a page.
//
// # Lists
//
// The page Lists reads a file in the browser and sends only its addresses, through
// checkPath, which answers as POST /v1/emails does. Its scripts are in assets:
// lists.js shows what lists-worker.js does; encoding.js, csv-reader.js and table.js
// read, run.js decides what is checked and written when, batches.js and pace.js
// send, list-store.js keeps progress in the browser. tsconfig.json and scripttest
// check them.
package dashboard
