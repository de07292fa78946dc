// The Go peers of ./build.sh eval --peers, in a module of their own so that theirs
// are not requirements of addrspec.
module github.com/addrspec/addrspec/core/eval/peers/golang

go 1.26

require github.com/AfterShip/email-verifier v1.4.1

require (
	github.com/hbollon/go-edlib v1.6.0 // indirect
	golang.org/x/net v0.29.0 // indirect
	golang.org/x/text v0.18.0 // indirect
)
