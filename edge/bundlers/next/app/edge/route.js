import { answer } from "../answer.js";

export const runtime = "edge";
export const POST = answer;
