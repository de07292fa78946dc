import type { Engine } from "../src/engine.ts";
import { FULL_SUGGESTION } from "../src/instance.ts";
import type { Checker, Facts, Options } from "./index.d.ts";

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
    check: async (email: string, options?: Options) => (await load()).check(email, options),
    explain: async (email: string) => (await load()).explain(email),
  };
}

function checkerOf(engine: Engine): Checker {
  return {
    check(email, { typoSuggestion = "domain" } = {}) {
      const { json } = engine.check(email, typoSuggestion === "address" ? FULL_SUGGESTION : 0);
      return JSON.parse(decoder.decode(json)) as Facts;
    },
    explain: (email) => engine.check(email).refusal,
    versions: () => engine.versions(),
  };
}
