/** A browser's page: module and addresses are fetched from beside it. */

import { Engine } from "../../src/engine.ts";
import { digests } from "../digest.ts";

const { module, instance } = await WebAssembly.instantiateStreaming(fetch("addrspec.wasm"), {});
const addresses = new Uint8Array(await (await fetch("addresses")).arrayBuffer());
Object.assign(globalThis, { digests: await digests(new Engine(module, instance), addresses) });
