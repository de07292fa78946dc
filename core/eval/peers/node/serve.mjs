// Checks rows with one package: node serve.mjs NAME, where
// adapters/NAME.mjs exports a function per question. Rows come as JSON lines
// {"question", "value"}; each gets a line with the result. An exception is no result.
import { createInterface } from "node:readline";

console.log = console.info = console.error; // packages may print, stdout is ours
const adapter = await import(`./adapters/${process.argv[2]}.mjs`);

for await (const line of createInterface({ input: process.stdin })) {
	const { question, value } = JSON.parse(line);
	let result;
	try {
		result = adapter[question](value);
	} catch (error) {
		result = { none: String(error) };
	}
	process.stdout.write(`${JSON.stringify(result)}\n`);
}
