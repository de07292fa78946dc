/**
 * A plugin of better-auth that asks a sign-up hook of addrspec (format "generic")
 * before a user is created, whichever way the user signs up: by password, by a social
 * provider, by a magic link.
 *
 *     betterAuth({ plugins: [addrspec({ url, secret, onError: "deny" })], ... })
 */
import { APIError } from "better-auth/api";
import { Webhook } from "standardwebhooks";

const ATTEMPTS = 2;
const TIMEOUT_MS = 5000; // longer than the hook's "timeout"

export function addrspec({ url, secret, onError }) {
  if (onError !== "allow" && onError !== "deny") throw new TypeError('onError must be "allow" or "deny"');
  const webhook = new Webhook(secret);
  const before = async (user, context) => {
    const language = context?.headers?.get("accept-language") ?? undefined;
    const decided = await ask(url, webhook, { email: user.email, language }, onError);
    if (decided.decision === "deny") {
      throw new APIError("UNPROCESSABLE_ENTITY", { code: "EMAIL_REFUSED", message: decided.message });
    }
  };
  return { id: "addrspec", init: () => ({ options: { databaseHooks: { user: { create: { before } } } } }) };
}

/** Asks the hook. Both attempts have one webhook-id, so they are charged once. */
async function ask(url, webhook, question, onError) {
  const id = `msg_${crypto.randomUUID()}`;
  const body = JSON.stringify(question);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      const response = await send(url, webhook, id, body);
      if (response.status === 200) return await response.json();
      console.error(`addrspec: the hook returned ${response.status}`); // no address in the log
      if (response.status < 500 && response.status !== 429) break;
    } catch (error) {
      console.error(`addrspec: the hook cannot be reached (${error.name})`);
    }
  }
  return { decision: onError, message: "Your email address could not be checked. Please try again shortly." };
}

function send(url, webhook, id, body) {
  const now = new Date();
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": webhook.sign(id, now, body),
    },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}
