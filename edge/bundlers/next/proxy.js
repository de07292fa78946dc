// Next.js runs this before every request.

import { check } from "addrspec";
import { NextResponse } from "next/server";

export async function proxy() {
  const response = NextResponse.next();
  response.headers.set("Suggestion", (await check("jane@gmial.com")).typo_suggestion);
  return response;
}
