import { results } from "../results.js";

export const runtime = "nodejs";
export const POST = results;
