package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

// heldOutCultures are groups of keys of names, towns and words that are left
// out together: each culture with its neighbours, so that no close relative
// remains in the training data.
var heldOutCultures = []string{
	"vi th lo km my VN TH LA KH MM",
	"ko ja KR KP JP",
	"zh tw hk sg CN TW HK",
	"tr az kk uz ku TR AZ KZ UZ KG TM",
	"gh ng yo ig ha cd mali sn ug rw ke so shona mg am zu za sw st xh tn nso ts ny GH NG SN ML CI BJ TG BF NE GN CM CD CG RW BI UG KE TZ SO ZW ZM MG ET ZA",
	"hy ka el AM GE GR CY",
	"fi et FI EE",
	"lt lv LT LV",
	"ar fa he ps pk AF IR IL EG MA DZ TN LY SD SY LB JO IQ SA YE PK AE KW OM QA",
	"in ta te kn malayalam bn si pa ne np IN BD LK NP PK",
	"uk ru UA RU BY",
	"hu HU", "cy br gd ga GB IE", "eu", "is fo IS FO", "sq AL XK", "pl PL", "mi pac NZ WS TO FJ PF",
	"id ms jv ph tl ID MY PH BN", "mn hmn MN", "inu amer GL PE BO GT",
}

// scored is how many local parts of a left-out group are scored.
const scored = 20_000

// holdOut trains without each group of cultures, then without each kind of
// random string, and prints the percentage of that group that is flagged.
func holdOut(d *data, samples int) {
	for _, group := range heldOutCultures {
		keys := strings.Fields(group)
		inGroup := func(key string) bool { return slices.Contains(keys, key) }
		rest := d.lexicon(func(key string) bool { return !inGroup(key) && key != "us" }) // the census has names of every culture
		trained := train(newGenerator(1, rest), samples)
		flagged := flaggedPercent(trained, newGenerator(3, d.lexicon(inGroup)), person)
		fmt.Printf("culture left out, flagged     %5.2f %%  %s\n", flagged, group)
	}
	all := d.lexicon(everything)
	for i, unseen := range randomKinds {
		g := newGenerator(1, all)
		g.randomKinds = slices.Delete(slices.Clone(randomKinds), i, i+1)
		flagged := flaggedPercent(train(g, samples), newGenerator(3, all), unseen.make)
		fmt.Printf("random kind left out, caught  %5.2f %%  %s\n", flagged, unseen.name)
	}
}

// flaggedPercent returns the percentage of local parts that trained gives a
// probability of one half or more.
func flaggedPercent(trained []byte, g *generator, make func(*generator) string) float64 {
	weights, probabilities := trained[:model.TableSize], trained[model.TableSize:]
	flagged := 0
	for range scored {
		if sum, ok := sumOf(weights, make(g)); ok && probabilities[step(sum)] >= 50 {
			flagged++
		}
	}
	return 100 * float64(flagged) / scored
}
