// The trainer of the gibberish model is a module of its own, so that what it needs is no requirement of addrspec.
module github.com/addrspec/addrspec/core/gibberish/train

go 1.26.0

replace github.com/addrspec/addrspec => ../../..

require (
	github.com/addrspec/addrspec v0.0.0
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
