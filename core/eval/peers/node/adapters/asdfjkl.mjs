// asdfjkl with the model and threshold it ships. It calls a text gibberish if the
// average probability of its letter pairs is not above the threshold.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const asdfjkl = require("asdfjkl");
const model = require("asdfjkl/lib/model.json");

export const random = (name) => ({
	yes: asdfjkl.default(name),
	score: -asdfjkl.averageTransitionProbability(name, model.matrix),
});
