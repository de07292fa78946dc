// The release is a module of its own, so that what it needs is no requirement of addrspec.
module github.com/addrspec/addrspec/wasm/release

go 1.26.0

replace github.com/addrspec/addrspec => ../..

require (
	github.com/CycloneDX/cyclonedx-go v0.12.0
	github.com/addrspec/addrspec v0.0.0
	github.com/google/uuid v1.6.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/stretchr/testify v1.12.1
	golang.org/x/crypto/x509roots/fallback v0.0.0-20261030153154-30a33513ff6d
	golang.org/x/mod v0.42.0
)

require (
	aead.dev/minisign v0.3.0 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.47.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)
