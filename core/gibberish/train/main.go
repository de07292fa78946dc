// Command train makes the gibberish model of core/gibberish from the names and words in
// core/gibberish/data:
//
//	go -C core/gibberish/train run . model    trains, and writes the model and the filter of names
//	go -C core/gibberish/train run . check    trains, and compares with those in use
//
// The same data give the same bytes on every host. Start reading with train in fit.go, then
// people.go and random.go, which generate the samples.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/core/gibberish/internal/filter"
	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

const samples = 12_000_000

// The directory of package gibberish, from the one of this program.
const directory = ".."

func main() {
	log.SetFlags(0)
	log.SetPrefix("train: ")
	var err error
	switch command := strings.Join(os.Args[1:], " "); command {
	case "model":
		err = makeModel(os.WriteFile)
	case "check":
		err = makeModel(func(path string, content []byte, _ os.FileMode) error {
			inUse, err := os.ReadFile(path)
			if err == nil && !bytes.Equal(inUse, content) {
				err = fmt.Errorf("training gives another %s than the one in use: train model replaces it", path)
			}
			return err
		})
	default:
		log.Fatalf("%q is neither model nor check", command)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func makeModel(write func(path string, content []byte, mode os.FileMode) error) error {
	l, err := read(filepath.Join(directory, "data"))
	if err != nil {
		return err
	}
	trained := train(newGenerator(1, l), samples)
	trained = append(trained, digestOf(trained)...) // the version of the model
	trained = append(trained, l.digest...)
	if err := write(filepath.Join(directory, "internal/model/model.bin"), trained, 0o644); err != nil {
		return err
	}
	return write(filepath.Join(directory, "names.bin"), []byte(filter.New(l.pronounceable)), 0o644)
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])[:model.DigestSize]
}
