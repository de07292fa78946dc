"use client";

import { checkMany } from "addrspec";
import { useEffect } from "react";

async function load() {
  const response = await fetch("/addresses.json");
  const facts = await checkMany(await response.json());
  globalThis.results = facts.map((result) => `${JSON.stringify(result)}\n`).join("");
}

export default function Page() {
  useEffect(() => {
    load();
  }, []);
  return <p>addrspec</p>;
}
