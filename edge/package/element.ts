/**
 * `<addrspec-email>`: `addrspec/element`. The input is the page's own, inside the element, so
 * that a form without scripts is the same form; and the hint is beside it, because
 * aria-describedby refers to nothing inside a shadow tree. The element is not form-associated
 * itself: a label around it would then name the element and not the input.
 */

import styles from "./element.css";
import type { EmailIssue, EmailResult, Messages } from "./email-schema.d.ts";
import type { Checker, Policy } from "./index.d.ts";

type Ready = typeof import("./schema.ts") & { checker: Checker };

/** What the first focus loads, for all elements. */
let ready: Ready | undefined;
let loading: Promise<void> | undefined;
let count = 0;
let sheet: CSSStyleSheet | undefined;

async function load(): Promise<void> {
  const [browser, schema] = await Promise.all([import("./browser.ts"), import("./schema.ts")]);
  ready = { ...schema, checker: await browser.load() };
}

const EVENTS = ["focusin", "input", "change", "keydown"];
/** A server has no elements, and needs none to import this. */
const Base = globalThis.HTMLElement ?? (Object as unknown as typeof HTMLElement);

export class AddrspecEmail extends Base {
  declare policy?: Policy | string | undefined;
  declare allowTypo?: boolean | undefined;
  declare messages?: Messages | undefined;
  #hint: HTMLElement | undefined;
  #shown = "";

  connectedCallback(): void {
    // No style element, which a Content-Security-Policy may forbid.
    if (sheet === undefined) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(styles);
    }
    const root = this.getRootNode() as Document | ShadowRoot;
    if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
    for (const type of EVENTS) this.addEventListener(type, this);
    this.ownerDocument.addEventListener("reset", this);
    const input = this.querySelector("input");
    if (input?.matches(":focus")) this.#update(input, false);
  }

  disconnectedCallback(): void {
    this.ownerDocument.removeEventListener("reset", this);
  }

  handleEvent(event: Event): void {
    const input = this.querySelector("input");
    if (input === null || input.multiple) return;
    if (event.type === "reset") {
      if (event.target === input.form) this.#show(input, undefined, true);
      return;
    }
    if (event.target !== input || ("key" in event && event.key !== "Tab")) return;
    // Tab counts before it moves the focus, so that a button which appears is the next stop.
    this.#update(input, event.type === "change" || event.type === "keydown");
  }

  /** Checks the input. Texts appear when the person leaves it, and from then on follow it. */
  #update(input: HTMLInputElement, leaves: boolean): void {
    this.#hint = this.#hint?.isConnected ? this.#hint : addHint(this);
    const ids = input.getAttribute("aria-describedby")?.split(/\s+/) ?? [];
    if (!ids.includes(this.#hint.id))
      input.setAttribute("aria-describedby", [...ids, this.#hint.id].join(" ").trim());
    if (ready === undefined) {
      loading ??= load();
      const retry = (error: unknown) => {
        loading = undefined; // the next event tries again
        console.warn("addrspec-email: the check cannot run:", error);
      };
      loading.then(() => this.#update(input, leaves)).catch(retry);
      return;
    }
    const issue = this.#issueOf(input, ready);
    this.#show(input, issue, leaves || this.#shown !== "");
    // HTML's type email refuses addresses that are valid by RFC 5321 and RFC 6531: quoted local
    // parts and those with other letters than ASCII.
    if (issue === undefined && leaves && input.validity.typeMismatch) {
      input.type = "text";
      input.inputMode = "email";
    }
  }

  #issueOf({ value }: HTMLInputElement, { emailSchema, checker }: Ready): EmailIssue | undefined {
    if (value === "") return undefined; // the input's own attribute required decides
    const policy = this.policy ?? this.getAttribute("policy") ?? undefined;
    const schema = emailSchema({ checker, policy, allowTypo: false, messages: this.#texts() });
    const result = schema["~standard"].validate(value) as EmailResult; // no promise: it has a checker
    return result.issues?.[0];
  }

  #texts(): Messages {
    return this.messages ?? JSON.parse(this.getAttribute("messages") ?? "{}");
  }

  #show(input: HTMLInputElement, issue: EmailIssue | undefined, visible: boolean): void {
    const allowTypo = this.allowTypo ?? this.getAttribute("allow-typo") !== "false";
    const refused = issue !== undefined && !(issue.code === "typo" && allowTypo);
    input.setCustomValidity(refused ? issue.message : "");
    const shown = issue === undefined ? "" : JSON.stringify([refused, issue]);
    // The same text is not shown again: its button may have the focus.
    if (this.#hint === undefined || !visible || shown === this.#shown) return;
    this.#shown = shown;
    if (refused) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
    this.#hint.dataset.state = refused ? "refused" : "doubtful";
    this.#hint.replaceChildren(...(issue === undefined ? [] : this.#contents(input, issue)));
  }

  #contents(input: HTMLInputElement, issue: EmailIssue): HTMLElement[] {
    const text = document.createElement("span");
    text.textContent = issue.message;
    const { suggestion } = issue;
    if (suggestion === null || ready === undefined) return [text];
    const button = document.createElement("button");
    button.type = "button";
    // Of an address that is not valid, more than the domain may differ.
    const isRefusal = issue.code !== "typo" && issue.code !== "policy";
    const meant = { ...issue, domain: isRefusal ? suggestion : issue.domain };
    const question = { ...meant, code: "typo", message: `Did you mean ${suggestion}?` };
    if (isRefusal) text.textContent = ready.translate(question, this.#texts());
    const label = { ...meant, code: "suggestion", message: `Use ${meant.domain}` };
    button.textContent = ready.translate(label, this.#texts());
    button.addEventListener("click", () => replaceValue(input, suggestion));
    return [text, button];
  }
}

function addHint(element: HTMLElement): HTMLElement {
  const hint = document.createElement("div");
  hint.id = `addrspec-hint-${++count}`;
  hint.className = "addrspec-hint";
  hint.setAttribute("role", "status"); // announced without an interruption
  element.append(hint);
  return hint;
}

/** Sets the value as typing would. React hides its own changes behind a property of the input. */
function replaceValue(input: HTMLInputElement, value: string): void {
  Reflect.set(HTMLInputElement.prototype, "value", value, input);
  input.focus();
  for (const type of ["input", "change"]) input.dispatchEvent(new Event(type, { bubbles: true }));
}

if (globalThis.customElements && !customElements.get("addrspec-email")) {
  // So that frameworks which ask whether an element has a property set it, and no attribute.
  Object.assign(AddrspecEmail.prototype, {
    policy: undefined,
    allowTypo: undefined,
    messages: undefined,
  });
  customElements.define("addrspec-email", AddrspecEmail);
}
