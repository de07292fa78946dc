/** workerd: the addresses are posted. */

import wasm from "./addrspec.wasm";
import { Engine } from "../../src/engine.ts";
import { digests } from "../digest.ts";

const engine = new Engine(wasm);

export default {
  fetch: async (request: Request) => Response.json(await digests(engine, new Uint8Array(await request.arrayBuffer()))),
};
