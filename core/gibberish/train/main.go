// Command train makes core/gibberish/internal/model/model.bin from the names
// and words in core/gibberish/data:
//
//	go run ./core/gibberish/train            trains and writes the model
//	go run ./core/gibberish/train -check     trains and compares with the model in use
//	go run ./core/gibberish/train -holdout   trains without one culture or one kind of
//	                                         random string at a time and scores those
//	go run ./core/gibberish/train -people DIR,DIR
//	                                         fits the curve of the model in use to the
//	                                         addresses in git repositories and prints it
//
// The same data give the same bytes on every host. Package main in gather
// collects the data. Start reading with train, below, then real.go and
// random.go, which generate the samples.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"log"
	"os"
	"strings"

	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

func main() {
	dir := flag.String("data", "core/gibberish/data", "folder of names and words")
	out := flag.String("out", "core/gibberish/internal/model/model.bin", "file to write")
	check := flag.Bool("check", false, "write nothing; exit 1 if training gives another model than the one in use")
	holdout := flag.Bool("holdout", false, "write nothing; train without each group of cultures and each kind of random string, and print how many of them are flagged")
	samples := flag.Int("samples", 16_000_000, "how many local parts to train on")
	histories := flag.String("people", "", "write nothing; print the curve from sums to probabilities that fits the authors in these git directories (DIR,DIR)")
	flag.Parse()
	if err := run(*dir, *out, *histories, *check, *holdout, *samples); err != nil {
		log.Fatal("train: ", err)
	}
}

func run(dir, out, histories string, check, holdout bool, samples int) error {
	d, err := read(dir)
	if err != nil {
		return err
	}
	if holdout {
		holdOut(d, samples/4)
		return nil
	}
	if histories != "" {
		return calibrate(strings.Split(histories, ","), newGenerator(4, d.lexicon(everything)))
	}
	trained := signed(train(newGenerator(1, d.lexicon(everything)), samples), d.digest)
	if !check {
		return os.WriteFile(out, trained, 0o644)
	}
	if string(trained) != model.Trained {
		return errors.New("training gives another model than the one in use: run without -check to replace it")
	}
	return nil
}

// train returns the weights, followed by the probabilities by sum.
func train(g *generator, samples int) []byte {
	var f fit
	f.learn(g, samples)
	var trained []byte
	for _, w := range f.weight {
		trained = append(trained, byte(quantized(w)))
	}
	return append(trained, curve(slope, offset)...)
}

// signed appends the version of the model and the digest of its data.
func signed(trained []byte, dataDigest string) []byte {
	trained = append(trained, digestOf(trained)...)
	return append(trained, dataDigest...)
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])[:model.DigestSize]
}
