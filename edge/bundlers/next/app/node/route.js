import { answer } from "../answer.js";

export const runtime = "nodejs";
export const POST = answer;
