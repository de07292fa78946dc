import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";

/** Reports whether we signed a message with your secret, within the last five minutes. */
function verify(secret, headers, body) {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) {
    return false; // an old message, sent again by somebody else
  }
  const hmac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body);
  const want = Buffer.from(`v1,${hmac.digest("base64")}`);
  return (headers["webhook-signature"] ?? "").split(" ").some((signature) => {
    const given = Buffer.from(signature);
    return given.length === want.length && timingSafeEqual(given, want);
  });
}

createServer(async (request, response) => {
  const body = await buffer(request);
  if (!verify(process.env.WEBHOOK_SECRET, request.headers, body)) {
    response.writeHead(401).end();
    return;
  }
  // A message may arrive twice. Skip it if you have seen its webhook-id before.
  console.log(request.headers["webhook-id"], body.toString());
  response.writeHead(204).end();
}).listen(Number(process.env.PORT), "127.0.0.1");
