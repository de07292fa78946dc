// A worker that uses the package.

import { answer } from "./answer.mjs";

export default { fetch: async () => Response.json(await answer()) };
