// Package docs renders the documentation that the service serves under /docs: the
// reference, one page for each operation of an OpenAPI description, and the
// guides, which are Markdown files under guides/.
//
// It is pure: bytes in, pages out, all of them once at the start. Layout, style
// and HTTP are in package dashboard.
//
// Code in the pages is not typed into them. A block such as
//
//	```examples check-email
//	```
//
// shows the programs in examples/check-email, and a test in package main runs
// these files against a service.
package docs
