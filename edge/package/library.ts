import type { Engine } from "../src/engine.ts";
import { DETAILS, FULL_SUGGESTION } from "../src/instance.ts";
import type { Checker, DetailedFacts, check as declaredCheck, Options } from "./index.d.ts";

const decoder = new TextDecoder();

/** Returns the package's functions; fetchEngine loads the module. */
export function library(fetchEngine: () => Promise<Engine>) {
  let loading: Promise<Checker> | undefined;
  const load = (): Promise<Checker> => {
    loading ??= fetchEngine().then(checkerOf, (error: unknown) => {
      loading = undefined; // the next call tries again
      throw error;
    });
    return loading;
  };
  return {
    load,
    check: (async (email: string, options?: Options) =>
      (await load()).check(email, options)) as typeof declaredCheck,
    explain: async (email: string) => (await load()).explain(email),
    setLists: async (blob: Uint8Array) => (await load()).setLists(blob),
  };
}

function checkerOf(engine: Engine): Checker {
  const check = (email: string, { typoSuggestion, details }: Options = {}) => {
    const suggestion = typoSuggestion === "address" ? FULL_SUGGESTION : 0;
    const { json } = engine.check(email, suggestion | (details ? DETAILS : 0));
    return JSON.parse(decoder.decode(json)) as DetailedFacts; // with details if asked for
  };
  return {
    check,
    explain: (email) => check(email, { details: true }).details,
    versions: () => engine.versions(),
    setLists: (blob) => engine.setLists(blob.slice()), // the caller may reuse its bytes
  };
}
