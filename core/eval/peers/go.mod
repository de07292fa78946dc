// What asks other tools for ./build.sh eval --peers is a module of its own, so that theirs
// are not requirements of addrspec.
module github.com/addrspec/addrspec/core/eval/peers

go 1.26.0

require (
	github.com/AfterShip/email-verifier v1.4.1
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/hbollon/go-edlib v1.6.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.29.0 // indirect
	golang.org/x/text v0.18.0 // indirect
)
