// Answers questions about rows with one package: node serve.mjs NAME, where
// adapters/NAME.mjs exports a function per question. Rows come as JSON lines
// {"question", "value"}; each gets a line of the answer. An exception is no answer.
import { createInterface } from "node:readline";

console.log = console.info = console.error; // packages may print, stdout is ours
const adapter = await import(`./adapters/${process.argv[2]}.mjs`);

for await (const line of createInterface({ input: process.stdin })) {
	const { question, value } = JSON.parse(line);
	let answer;
	try {
		answer = adapter[question](value);
	} catch (error) {
		answer = { none: String(error) };
	}
	process.stdout.write(`${JSON.stringify(answer)}\n`);
}
