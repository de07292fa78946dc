// Package api answers the two operations of addrspec over HTTP:
//
//	GET  /v1/email/{email}   one address
//	POST /v1/emails          up to 64 in parallel
//
// a worker's share of the same work (edge.go):
//
//	POST /v1/edge/admit
//
// and the pages an operator wants: /healthz, /readyz, /metrics, /openapi.json.
//
// A request is decided in the order of the contract, first match wins: route
// (404, 405), key (401), rate (429), body (415, 413, 400), points (402, 429),
// the work. The key, the token and the points are one step of the ledger, so
// the input is read before that step and judged after it.
//
// Handlers return a response as a value; one place sends it. Facts come from
// the module (wasm/host), never from core: origin and edge cannot differ. No
// address and no key is logged, measured or repeated in an error.
package api
