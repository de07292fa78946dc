/** Computes the digests in a page, which fetches the module and the addresses from beside it. */

import { Engine } from "../../src/engine.ts";
import { digests } from "../digest.ts";

const { module, instance } = await WebAssembly.instantiateStreaming(fetch("addrspec.wasm"), {});
const addresses = new Uint8Array(await (await fetch("addresses")).arrayBuffer());
Object.assign(globalThis, { digests: await digests(new Engine(module, instance), addresses) });
