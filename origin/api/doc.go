// Package api is the HTTP server of the origin:
//
//	GET  /v1/email/{email}   checks one address
//	POST /v1/emails          checks up to 64 addresses
//	GET  /v1/usage           returns what the account has used and has left
//	POST /v1/edge/admit      charges and looks up MX for an edge worker (edge.go)
//	GET  /healthz, /readyz, /metrics, /openapi.json
//
// Each of the first four is an operation (operation.go), a value in single.go,
// batch.go, usage.go and edge.go. All operations run through one pipeline
// (pipeline.go), which has the order of the contract's checks. A request is
// charged once, at its end.
//
// Handlers return a response as a value, which is sent in one place. Facts come
// from the module (wasm/host), never from core, so origin and edge cannot differ.
// No address and no key is logged, measured or repeated in an error.
package api
