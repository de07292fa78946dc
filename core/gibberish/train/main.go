// Command train makes core/gibberish/model.bin from the names and words in
// core/gibberish/data:
//
//	go run ./core/gibberish/train            trains and writes the model
//	go run ./core/gibberish/train -check     trains and compares with the model in use
//	go run ./core/gibberish/train -holdout   tells what peoples and makes of random
//	                                         strings get that a model has never seen
//
// It is deterministic on every host: the same data give the same bytes. The
// data come from public packages by way of package main in gather.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

func main() {
	dir := flag.String("data", "core/gibberish/data", "folder of names and words")
	out := flag.String("out", "core/gibberish/model.bin", "file to write")
	check := flag.Bool("check", false, "write nothing; exit 1 unless training gives the model in use")
	unseen := flag.Bool("holdout", false, "write nothing; train without some peoples and makes, and print what they get")
	samples := flag.Int("samples", 10_000_000, "how many local parts to learn from")
	flag.Parse()
	if err := run(*dir, *out, *check, *unseen, *samples); err != nil {
		log.Fatal("train: ", err)
	}
}

func run(dir, out string, check, unseen bool, samples int) error {
	d, err := read(dir)
	if err != nil {
		return err
	}
	if unseen {
		holdOut(d, samples/4)
		return nil
	}
	made := signed(train(newMaker(1, d.lexicon(everything)), samples), d.digest)
	if !check {
		return os.WriteFile(out, made, 0o644)
	}
	if string(made) != model.Trained {
		return fmt.Errorf("the data give another model than the one in use: run without -check")
	}
	return nil
}

// train returns weights, and behind them the probabilities by sum.
func train(m *maker, samples int) []byte {
	var f fit
	f.learn(m, samples)
	var made []byte
	for _, w := range f.weight {
		made = append(made, byte(quantized(w)))
	}
	return append(made, calibrate(string(made), m, samples/16)...)
}

// signed appends the model's version and the digest of its data.
func signed(made []byte, dataDigest string) []byte {
	made = append(made, digestOf(made)...)
	return append(made, dataDigest...)
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])[:model.DigestSize]
}
