// gibberish-detective with the model and threshold it ships. A high score is a
// likely text. It has none for a name without two letters.
import { createRequire } from "node:module";

const gibberish = createRequire(import.meta.url)("gibberish-detective")({});

export function random(name) {
	const score = gibberish.assignScore(name);
	if (Number.isNaN(score)) return { none: "no pair of letters" };
	return { yes: gibberish.detect(name), score: -score };
}
