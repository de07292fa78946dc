// Package feed signs and verifies newer lists.
//
// A feed is a folder that any web server can serve: the blob, its signature and
// a summary for people and monitors.
//
//	lists.blob           what lists/pack writes
//	lists.blob.minisig   its signature, in the format of minisign
//	lists.json           version, times, size and counts; no program relies on it
//
// The signature is minisign's (https://jedisct1.github.io/minisign/), prehashed:
// Ed25519 over the BLAKE2b-512 hash of the blob. The older form without the hash
// ("Ed", minisign -l) is refused, so that every program needs one form only. Its
// trusted comment, which a second signature protects, has what orders blobs:
//
//	addrspec lists version:2026.11.22-1a2b3c4d signed:1795372800 expires:1797964800
//
// The times are seconds since 1970. The version must be the blob's own. An
// update is refused if it was signed before the lists in use or has expired, so
// a server that replays old files cannot take a client back.
//
// [PublicKey.Parse] reads a signature and verifies its trusted comment;
// [Signature.Open] then verifies a blob. [SecretKey.Sign] makes a signature.
// Package store keeps a blob and its signature in files.
//
// The package does no I/O. It imports lists and aead.dev/minisign (MIT; its only
// dependency is golang.org/x/crypto), which has keys with and without a password,
// key pairs and both directions; github.com/jedisct1/go-minisign makes no keys
// and does not limit the memory that a key file may ask for.
package feed

// Names of the files of a feed.
const (
	BlobName    = "lists.blob"
	SummaryName = "lists.json"
	Suffix      = ".minisig" // of a blob's signature
)

// Limits of what is read.
const (
	MaxBlob      = 4 << 20 // the module's limit, too
	MaxSignature = 4 << 10
	MaxKey       = 4 << 10
)
