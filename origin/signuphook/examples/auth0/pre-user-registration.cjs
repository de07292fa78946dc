/**
 * An Action of Auth0 for the trigger Pre User Registration. It asks a sign-up hook of
 * addrspec (format "generic").
 *
 * In the Action's editor add the dependency standardwebhooks and the secrets
 * ADDRSPEC_HOOK_URL and ADDRSPEC_HOOK_SECRET. If the service cannot be reached, the
 * sign-up is denied; change UNREACHABLE to allow it.
 */
const { randomUUID } = require("node:crypto");
const { Webhook } = require("standardwebhooks");

const UNREACHABLE = "deny";
const TIMEOUT_MS = 5000; // longer than the hook's "timeout"

exports.onExecutePreUserRegistration = async (event, api) => {
  if (!event.user.email) return; // a user of a phone number
  const decided = await ask(event.secrets, { email: event.user.email, language: event.request?.language });
  if (decided.decision === "deny") {
    // The first text is for Auth0's log, the second for the person who signs up.
    api.access.deny(`addrspec: ${decided.reasons.join(", ")}`, decided.message);
  }
};

async function ask({ ADDRSPEC_HOOK_URL: url, ADDRSPEC_HOOK_SECRET: secret }, question) {
  const id = `msg_${randomUUID()}`;
  const now = new Date();
  const body = JSON.stringify(question);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
        "webhook-signature": new Webhook(secret).sign(id, now, body),
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status === 200) return await response.json();
    console.log(`addrspec: the hook returned ${response.status}`); // no address in the log
  } catch (error) {
    console.log(`addrspec: the hook cannot be reached (${error.name})`);
  }
  return {
    decision: UNREACHABLE,
    reasons: ["unreachable"],
    message: "Your email address could not be checked. Please try again shortly.",
  };
}
