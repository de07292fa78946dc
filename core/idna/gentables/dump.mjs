// dump.mjs prints the snapshot of main.go as JSON. It is run in a directory with the packages, each in a directory
// of its own. Node decodes @unicode/unicode, as it does for others who use it.
import { readFileSync } from 'node:fs';
import bidi from './unicode/Bidi_Class/index.mjs';
import category from './unicode/General_Category/index.mjs';
import canonical from './unicode/Decomposition_Mapping/Canonical/code-points.mjs';
import lower from './unicode/Simple_Case_Mapping/Lowercase/code-points.mjs';
import upper from './unicode/Simple_Case_Mapping/Uppercase/code-points.mjs';

async function values(property, ...names) {
	const map = new Map();
	for (const name of names)
		for (const range of (await import(`./unicode/${property}/${name}/ranges.mjs`)).default)
			for (const c of range.keys()) map.set(c, name);
	return map;
}

const joining = await values('Joining_Type', 'Dual_Joining', 'Left_Joining', 'Right_Joining', 'Transparent');
const script = await values('Script', 'Latin', 'Cyrillic', 'Greek', 'Hebrew', 'Hiragana', 'Katakana', 'Han');
const unstable = await values('Binary_Property', 'Changes_When_NFKC_Casefolded');
const excluded = await values('Binary_Property', 'Full_Composition_Exclusion');
const normalization = readFileSync('pyunormalize/_unicode_data.py', 'utf8').split('_NON_ZERO_CCC_TABLE')[1];
const rows = [...normalization.matchAll(/^ {4}(0x[0-9A-F]+): +(\d+),$/gm)];
const classes = new Map(rows.map((row) => [Number(row[1]), Number(row[2])]));

const isHangul = (c) => c >= 0xac00 && c <= 0xd7a3;
const runs = [];
for (let c = 0; c <= 0x10ffff; c++) {
	if (category.get(c) === 'Unassigned' || category.get(c) === 'Surrogate') continue;
	const Value = {
		Category: category.get(c), Bidi: bidi.get(c), Joining: joining.get(c), Script: script.get(c),
		Class: classes.get(c), Unstable: unstable.has(c),
	};
	const last = runs.at(-1);
	if (last?.Last === c - 1 && JSON.stringify(last.Value) === JSON.stringify(Value)) last.Last = c;
	else runs.push({ First: c, Last: c, Value });
}
const mapping = JSON.parse(readFileSync('tr46/lib/mappingTable.json', 'utf8'));
const confusable = Object.entries(JSON.parse(readFileSync('unhomoglyph/data.json', 'utf8')));
const snapshot = {
	Properties: runs,
	Lower: Object.fromEntries(lower),
	Upper: Object.fromEntries(upper),
	Decompositions: Object.fromEntries([...canonical].filter(([c]) => !isHangul(c)).map(([c, to]) => [c, [to].flat()])),
	Excluded: [...excluded.keys()],
	Mappings: mapping.map(([c, Status, To]) => ({ First: [c].flat()[0], Last: [c].flat().at(-1), Value: { Status, To } })),
	Confusables: Object.fromEntries(confusable.filter(([, to]) => /[a-z0-9]/i.test(to.normalize('NFD')))),
};
process.stdout.write(JSON.stringify(snapshot));
