/**
 * Signs in with a passkey, or adds one: forms with the attribute data-passkey. A
 * POST without a state begins a ceremony, a second one finishes it.
 */

/** @typedef {{state: string, options: {publicKey: any}}} Begun */

const supported =
  "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;

/** The autofill that waits, which a click must end first. */
const waiting = new AbortController();

const forms = /** @type {NodeListOf<HTMLFormElement>} */ (
  document.querySelectorAll("form[data-passkey]")
);
for (const form of forms) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit(form);
  });
  if (form.dataset.autofill !== undefined) void autofill(form);
}

/** Runs a ceremony after a click. @param {HTMLFormElement} form */
async function submit(form) {
  const button = form.querySelector("button");
  waiting.abort();
  say(form, "");
  button?.setAttribute("disabled", "");
  try {
    if (!supported) {
      throw new Error("This browser cannot use passkeys. Update it, or use another way.");
    }
    await ceremony(form, {});
  } catch (problem) {
    say(form, sentence(problem));
  } finally {
    button?.removeAttribute("disabled");
  }
}

/**
 * Offers passkeys in the autofill of the email, if the browser can. It fails in
 * silence: nobody has asked for it.
 * @param {HTMLFormElement} form
 */
async function autofill(form) {
  try {
    if (supported && (await PublicKeyCredential.isConditionalMediationAvailable())) {
      await ceremony(form, { mediation: "conditional", signal: waiting.signal });
    }
  } catch (problem) {
    if (problem instanceof Refusal) say(form, problem.message);
  }
}

/**
 * Begins a ceremony, asks the authenticator, finishes it and goes on.
 * @param {HTMLFormElement} form
 * @param {CredentialRequestOptions} how
 */
async function ceremony(form, how) {
  const fields = Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => [name, String(value)]),
  );
  const begun = /** @type {Begun} */ (await post(form.action, fields));
  const credential = await ask(begun.options.publicKey, how);
  const done = await post(form.action, {
    ...fields,
    state: begun.state,
    credential: JSON.stringify(credential),
  });
  location.assign(done.location);
}

/**
 * Asks the authenticator. Options with a user are those of a new passkey.
 * @param {any} options
 * @param {CredentialRequestOptions} how
 * @returns {Promise<Credential | null>}
 */
function ask(options, how) {
  if (options.user) {
    return navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
    });
  }
  return navigator.credentials.get({
    ...how,
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
  });
}

/** What the service responds if it refuses. */
class Refusal extends Error {}

/**
 * Sends fields as JSON and returns the response.
 * @param {string} path
 * @param {Record<string, string>} fields
 * @returns {Promise<any>}
 */
async function post(path, fields) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(fields),
  });
  const body = await response.json();
  if (!response.ok) throw new Refusal(body.error);
  return body;
}

/**
 * Returns what to say about a failure. Browsers give one name to many causes, so
 * that a site cannot learn which passkeys somebody has.
 * @param {unknown} problem
 * @returns {string}
 */
function sentence(problem) {
  if (problem instanceof DOMException) {
    return problem.name === "InvalidStateError"
      ? "This device has a passkey for this account already."
      : "The browser did not give a passkey: it was cancelled, took too long, or has none for this site.";
  }
  return problem instanceof Error ? problem.message : String(problem);
}

/**
 * Shows a sentence below the form; "" hides it.
 * @param {HTMLFormElement} form
 * @param {string} text
 */
function say(form, text) {
  const place = form.querySelector("[role=alert]");
  if (place instanceof HTMLElement) {
    place.textContent = text;
    place.hidden = text === "";
  }
}
