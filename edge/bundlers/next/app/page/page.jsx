"use client";

import { checkMany } from "addrspec";
import { useEffect } from "react";

async function answer() {
  const response = await fetch("/addresses.json");
  const facts = await checkMany(await response.json());
  globalThis.results = facts.map((result) => `${JSON.stringify(result)}\n`).join("");
}

export default function Page() {
  useEffect(() => {
    answer();
  }, []);
  return <p>addrspec</p>;
}
