// A program of the npm package: checks addresses and prints one line of JSON for each.
//
//   node check.mjs [-0] [-1] [-d] [-l LISTS] [ADDRESS...]
//
// Without addresses it reads them from standard input, one a line, or with -0 each
// terminated by a zero byte. With -d results have the member details; with -l the lists
// are those of a newer lists.blob; with -1 each address takes a call of its own.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { load } from "addrspec";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    null: { type: "boolean", short: "0", default: false },
    single: { type: "boolean", short: "1", default: false },
    details: { type: "boolean", short: "d", default: false },
    lists: { type: "string", short: "l" },
  },
});

const checker = await load();
if (values.lists !== undefined) checker.setLists(readFileSync(values.lists));
const options = { details: values.details };
const addresses = positionals.length > 0 ? positionals : input(values.null);
const results = values.single
  ? addresses.map((address) => checker.check(address, options))
  : checker.checkMany(addresses, options);
process.stdout.write(results.map((facts) => `${JSON.stringify(facts)}\n`).join(""));

/** Returns the addresses on standard input, as bytes: they may not be UTF-8. */
function input(zero) {
  const bytes = readFileSync(0);
  const list = [];
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf(zero ? 0 : 10, at);
    const end = found < 0 ? bytes.length : found;
    list.push(bytes.subarray(at, !zero && bytes[end - 1] === 13 ? end - 1 : end));
    at = end + 1;
  }
  return list.filter((address) => address.length > 0);
}
