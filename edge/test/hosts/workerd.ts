/** Responds to a POST of the addresses with the digests, in workerd. */

import { Engine } from "../../src/engine.ts";
import { digests } from "../digest.ts";
import wasm from "./addrspec.wasm";

const engine = new Engine(wasm);

export default {
  fetch: async (request: Request) =>
    Response.json(await digests(engine, new Uint8Array(await request.arrayBuffer()))),
};
