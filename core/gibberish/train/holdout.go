package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

// unseenPeoples are groups of peoples that are left out together, names,
// towns and words: each with its neighbours, so that no close kin is left.
var unseenPeoples = []string{
	"vi th lo km my VN TH LA KH MM",
	"ko ja KR KP JP",
	"zh tw hk sg CN TW HK",
	"tr az kk uz ku TR AZ KZ UZ KG TM",
	"gh ng yo ig ha cd mali sn ug rw ke so shona mg am zu za sw st GH NG SN ML CI BJ TG BF NE GN CM CD CG RW BI UG KE TZ SO ZW ZM MG ET ZA",
	"hy ka el AM GE GR CY",
	"fi et FI EE",
	"lt lv LT LV",
	"ar fa he ps pk AF IR IL EG MA DZ TN LY SD SY LB JO IQ SA YE PK AE KW OM QA",
	"in ta te kn malayalam bn si pa ne np IN BD LK NP PK",
	"uk ru UA RU BY",
	"hu HU", "cy br gd ga GB IE", "eu", "is fo IS FO", "sq AL XK", "pl PL", "mi pac NZ WS TO FJ PF",
	"id ms jv ph tl ID MY PH BN", "mn hmn MN", "inu amer GL PE BO GT",
}

// drawn is how many local parts a left-out group is judged by.
const drawn = 20_000

// holdOut trains without each group of peoples, then without each make of
// random strings, and prints how many of that group are called gibberish.
func holdOut(d *data, samples int) {
	for _, group := range unseenPeoples {
		keys := strings.Fields(group)
		among := func(key string) bool { return slices.Contains(keys, key) }
		seen := d.lexicon(func(key string) bool { return !among(key) })
		made := train(newMaker(1, seen), samples)
		called := calledGibberish(made, newMaker(3, d.lexicon(among)), person)
		fmt.Printf("people flagged, unseen  %5.2f %%  %s\n", called, group)
	}
	all := d.lexicon(everything)
	for i, unseen := range randomKinds {
		m := newMaker(1, all)
		m.randomKinds = slices.Delete(slices.Clone(randomKinds), i, i+1)
		called := calledGibberish(train(m, samples), newMaker(3, all), unseen.make)
		fmt.Printf("random caught, unseen  %5.2f %%  %s\n", called, unseen.name)
	}
}

// calledGibberish is how many of a hundred get one half or more.
func calledGibberish(made []byte, m *maker, make func(*maker) string) float64 {
	weights, probabilities := string(made[:model.TableSize]), made[model.TableSize:]
	called := 0
	var text model.Name
	for range drawn {
		if sum, ok := text.Sum(weights, []byte(make(m))); ok && probabilities[step(sum)] >= 50 {
			called++
		}
	}
	return 100 * float64(called) / drawn
}
