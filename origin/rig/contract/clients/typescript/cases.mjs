// Runs the cases of clients.json with addrspec/client.
import { createInterface } from "node:readline";
import { ApiError, Client, PointsUsedUp } from "addrspec/client";

function described({ email, result, error }) {
  return {
    email,
    ...(error && { error: error.code }),
    ...(result && { valid: result.valid, mx: result.mx }),
    ...(result?.details && { canonical: result.details.canonical }),
    ...(result?.verdict && { action: result.verdict.action }),
  };
}

async function run({ url, key, call, emails, details, policy, max_wait: maxWait, concurrency, stop }) {
  const client = new Client(url, key, { maxWait, concurrency });
  const items = [];
  try {
    if (call === "usage") {
      const { points, rate } = await client.usage();
      return { items, usage: { used: points.used, limit: points.limit, rate: rate.limit } };
    }
    const options = { details, ...(policy && { policy }) };
    if (call === "check") items.push(described(await client.check(emails[0], options)));
    else {
      for await (const item of client.checkMany(emails, options)) {
        items.push(described(item));
        if (stop) break;
      }
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, code } = error;
    return { items, error: { status, code, points: error instanceof PointsUsedUp } };
  }
  return { items };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await run(JSON.parse(line))));
}
