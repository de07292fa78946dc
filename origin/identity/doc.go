// Package identity knows the people who sign in to the dashboard: passwords,
// sessions, one-time links and how often somebody may try. Each account has one
// user. Nothing here proves that an email address belongs to a user; rights come
// from a password, a link that an operator made, or a linked identity.
//
// All of it is in the ledger's database, so any replica knows every session and
// replicas need no sticky connections. Tokens of sessions and links are stored as
// SHA-256 only: they have 256 random bits, so there is no dictionary to try.
// Passwords are stored as Argon2id (RFC 9106).
//
// The package leaves out HTTP, cookies and HTML (package dashboard), and what an
// account may use (package ledger).
package identity
