// Uses the package in workerd.

import { answer } from "./answer.mjs";

export default { fetch: async () => Response.json(await answer()) };
