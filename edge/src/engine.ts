import { type Finding, Instance, TooLong, type Versions } from "./instance.ts";

/**
 * Checks addresses. It keeps one instance of the module, which is enough where
 * nothing runs side by side, and takes another for one that failed: after a
 * trap its memory may be in any state, even where it would still answer.
 */
export class Engine {
  readonly #module: WebAssembly.Module;
  #instance: Instance | undefined;

  /** A first instance is for who could only make one asynchronously. */
  constructor(module: WebAssembly.Module, first = new WebAssembly.Instance(module, {})) {
    this.#module = module;
    this.#instance = new Instance(first);
  }

  check(email: string | Uint8Array, flags = 0): Finding {
    return this.#use((instance) => instance.check(email, flags));
  }

  versions(): Versions {
    return this.#use((instance) => instance.versions());
  }

  #use<T>(call: (instance: Instance) => T): T {
    this.#instance ??= new Instance(new WebAssembly.Instance(this.#module, {}));
    try {
      return call(this.#instance);
    } catch (failure) {
      if (!(failure instanceof TooLong)) this.#instance = undefined;
      throw failure;
    }
  }
}
