/**
 * Runs the Action for each line of JSON on standard input, the event, as Auth0's
 * runtime does, and prints what it denied.
 */
const { createInterface } = require("node:readline");
const { onExecutePreUserRegistration } = require("./pre-user-registration.cjs");

(async () => {
  for await (const line of createInterface({ input: process.stdin })) {
    let denied = null;
    const deny = (reason, userMessage) => (denied = { reason, userMessage });
    const before = console.log;
    console.log = console.error;
    await onExecutePreUserRegistration(JSON.parse(line), { access: { deny } });
    console.log = before;
    console.log(JSON.stringify(denied));
  }
})();
