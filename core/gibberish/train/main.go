// Command train makes core/gibberish/model.bin from the names and words in
// core/gibberish/data:
//
//	go run ./core/gibberish/train          trains and writes the model
//	go run ./core/gibberish/train -check   trains and compares with the model in use
//
// It is deterministic: the same data give the same bytes. The data come from
// public packages by way of package main in gather.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/addrspec/addrspec/core/gibberish"
)

func main() {
	data := flag.String("data", "core/gibberish/data", "folder of names and words")
	out := flag.String("out", "core/gibberish/model.bin", "file to write")
	check := flag.Bool("check", false, "write nothing; exit 1 unless training gives the model in use")
	skip := flag.String("skip", "", "sections to leave out, to see how the model does without them: cs,pl")
	samples := flag.Int("samples", 4_000_000, "how many local parts to learn from")
	flag.Parse()
	l, err := load(*data, strings.Split(*skip, ","))
	if err != nil {
		log.Fatal("train: ", err)
	}
	model := train(l, *samples)
	switch {
	case !*check:
		err = os.WriteFile(*out, model, 0o644)
	case string(model) != gibberish.Model():
		err = fmt.Errorf("the data give another model than the one in use: run without -check")
	}
	if err != nil {
		log.Fatal("train: ", err)
	}
}

// train returns the model: weights, then probabilities by sum.
func train(l *lexicon, samples int) []byte {
	var f fit
	f.learn(newMaker(1, l), samples)
	var model []byte
	for _, w := range f.weight {
		model = append(model, byte(quantized(w)))
	}
	return append(model, calibrate(model, newMaker(2, l), samples/8)...)
}
