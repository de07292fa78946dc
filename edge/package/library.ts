/** The functions of the package, around an engine that the runtime's entry starts. */

import { Engine } from "../src/engine.ts";
import { DETAILS, FULL_SUGGESTION, PolicyRefused } from "../src/instance.ts";
import { FACT, parseJSON } from "../src/report.ts";
import * as argument from "./argument.ts";
import type * as declared from "./index.d.ts";
import type { Address, Checker, DetailedFacts, Found, Options, Verdict } from "./index.d.ts";

const decoder = new TextDecoder();

/** Returns the package's functions; fetchEngine loads the module of the package, open a URL. */
export function library(fetchEngine: () => Promise<Engine>, open?: Open): typeof declared {
  let loading: Promise<Checker> | undefined;
  const loadDefault = (): Promise<Checker> => {
    loading ??= fetchEngine().then(checkerOf, (error: unknown) => {
      loading = undefined; // the next call tries again
      throw error;
    });
    return loading;
  };
  let loaded: Checker | undefined;
  const check = async (email: Address, options?: Options) => {
    loaded ??= await loadDefault(); // waits once only
    return loaded.check(email, options);
  };
  const checkMany = async (emails: Iterable<Address>, options?: Options) =>
    (await loadDefault()).checkMany(emails, options);
  return {
    load: async (source) =>
      source === undefined ? loadDefault() : checkerOf(await engineOf(source, open)),
    check: check as typeof declared.check,
    checkMany: checkMany as typeof declared.checkMany,
    explain: async (email) => (await loadDefault()).explain(email),
    verdict: async (email, policy, found) => (await loadDefault()).verdict(email, policy, found),
    verdictMany: async (emails, policy) => (await loadDefault()).verdictMany(emails, policy),
    setLists: async (blob) => (await loadDefault()).setLists(blob),
    PolicyRefused,
  };
}

function checkerOf(engine: Engine): Checker {
  const check = (email: Address, options?: Options) =>
    engine.result(argument.address(email, "email"), flagsOf(options)) as DetailedFacts; // with details if asked for
  return {
    check,
    checkMany: (emails: Iterable<Address>, options?: Options) =>
      engine.results(argument.addresses(emails), flagsOf(options)) as DetailedFacts[],
    explain: (email) => check(email, { details: true }).details,
    verdict: (email, policy, found) =>
      decide(engine, argument.address(email, "email"), argument.policy(policy), found),
    verdictMany: (emails, policy) => {
      const document = argument.policy(policy);
      engine.verdict(document, NOBODY); // also if there are no addresses
      return argument.addresses(emails).map((email) => decide(engine, email, document));
    },
    versions: () => engine.versions(),
    setLists: (blob) => engine.setLists(argument.bytes(blob, "blob").slice()), // the caller may reuse its bytes
  };
}

const NOBODY = { set: 0, more: 0, host: "", address: "" };

function decide(engine: Engine, email: Address, policy: string, found?: Found): Verdict {
  const [looked, disposable, exchanges] = argument.found(found);
  const facts = engine.check(email);
  const set = disposable ? facts.set | FACT.disposable : facts.set;
  const subject = { ...facts, set, address: email, exchanges };
  return parseJSON(decoder.decode(engine.verdict(policy, subject, looked))) as Verdict;
}

function flagsOf(options: Options | undefined): number {
  const { typoSuggestion, details } = argument.options(options);
  return (typoSuggestion === "address" ? FULL_SUGGESTION : 0) | (details ? DETAILS : 0);
}

/** Opens a URL; each runtime has its own way. */
export type Open = (url: URL) => Promise<Response | Uint8Array>;

/** Compiles the module from its bytes, a response or a URL, or takes it compiled. */
export async function engineOf(source: unknown, open: Open = fetch): Promise<Engine> {
  if (source instanceof WebAssembly.Module)
    return new Engine(source, await WebAssembly.instantiate(source, {}));
  if (source instanceof URL) return engineOf(await open(source), open);
  const isResponse = typeof Response === "function" && source instanceof Response; // jsdom has none
  const { module, instance } = isResponse
    ? await compiled(source)
    : await WebAssembly.instantiate(argument.source(source), {});
  return new Engine(module, instance);
}

/** Compiles the module while it loads, if the server sends it as application/wasm. */
async function compiled(response: Response): Promise<WebAssembly.WebAssemblyInstantiatedSource> {
  const type = response.headers.get("Content-Type") ?? "";
  const isPage = type.startsWith("text/html"); // what development servers send instead
  if (!response.ok || isPage) {
    throw new Error(
      `the server sent ${response.ok ? "a page" : `status ${response.status}`} in place of addrspec.wasm; `
        + "copy node_modules/addrspec/lib/addrspec.wasm beside your script, or call load with a source",
    );
  }
  if (type === "application/wasm") return WebAssembly.instantiateStreaming(response, {});
  // No await within the call, which Next.js in development puts into a function that is not async.
  const bytes = await response.arrayBuffer();
  return WebAssembly.instantiate(bytes, {});
}
