// Package edge contains the tests of the edge worker that need a running origin,
// the real runtimes and DNS over sockets. The worker itself is TypeScript, in src
// and entry. Its unit tests are beside it.
package edge
