// Package api answers the operations of addrspec over HTTP:
//
//	GET  /v1/email/{email}   one address
//	POST /v1/emails          up to 64 in parallel
//
// what a key may still do:
//
//	GET  /v1/usage
//
// the part of them that an edge worker leaves to the origin (edge.go):
//
//	POST /v1/edge/admit
//
// and the pages of the operator: /healthz, /readyz, /metrics, /openapi.json.
//
// An operation is a value (operation.go): single.go, batch.go, edge.go,
// usage.go. All of them run through one pipeline (pipeline.go), which knows the
// order in which the contract judges a request. A request is charged once, at
// its end.
//
// Handlers return a response as a value; one place sends it. Facts come from
// the module (wasm/host), never from core, so origin and edge cannot differ. No
// address and no key is logged, measured or repeated in an error.
package api
