import { results } from "../results.js";

export const runtime = "edge";
export const POST = results;
