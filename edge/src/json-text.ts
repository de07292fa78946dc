/**
 * Where a text stops being JSON (RFC 8259). JSON.parse tells that in words of
 * its engine, if at all; the contract's message says it in octets.
 */

/** The first octet out of place: behind the end of a whole value, or in its midst. */
export interface Misplaced {
  readonly at: number;
  readonly afterValue: boolean;
}

/** Values nested deeper are refused, as at the origin. */
export const MAX_DEPTH = 10_000;

const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);
const ESCAPES = new Set(Array.from('"\\/bfnrt', (c) => c.charCodeAt(0)));
const OPEN_OBJECT = 0x7b, OPEN_ARRAY = 0x5b, CLOSE_ARRAY = 0x5d;
const QUOTE = 0x22, COMMA = 0x2c, COLON = 0x3a, BACKSLASH = 0x5c, MINUS = 0x2d, PLUS = 0x2b, POINT = 0x2e;

/** Finds the first octet out of place; undefined in JSON text. At the length of text, it ends too early. */
export function misplaced(text: Uint8Array): Misplaced | undefined {
  const scan = new Scan(text);
  if (!scan.document()) return { at: scan.at, afterValue: false };
  scan.space();
  return scan.at < text.length ? { at: scan.at, afterValue: true } : undefined;
}

/** Each method goes over one production; false leaves `at` on what is out of place. */
class Scan {
  at = 0;
  /** The containers around `at`, by the octet that closes them. */
  readonly #open: number[] = [];
  readonly #text: Uint8Array;

  constructor(text: Uint8Array) {
    this.#text = text;
  }

  document(): boolean {
    do {
      if (!this.#value()) return false;
    } while (this.#open.length > 0);
    return true;
  }

  space(): void {
    while (SPACE.has(this.#text[this.at] ?? 0)) this.at++;
  }

  /** A scalar with all closings behind it, or the opening of a container, up to the next value. */
  #value(): boolean {
    this.space();
    const first = this.#text[this.at];
    if (first === OPEN_OBJECT || first === OPEN_ARRAY) return this.#container(first);
    return this.#scalar(first) && this.#next();
  }

  #container(first: number): boolean {
    if (this.#open.length >= MAX_DEPTH) return false;
    this.at++;
    const close = first + 2; // of both kinds
    this.#open.push(close);
    this.space();
    if (this.#text[this.at] === close) return this.#next();
    return close === CLOSE_ARRAY || this.#name();
  }

  /** What may follow a value: closings, then a comma, and a name in an object. */
  #next(): boolean {
    for (;;) {
      const close = this.#open.at(-1);
      if (close === undefined) return true;
      this.space();
      if (this.#take(COMMA)) return close === CLOSE_ARRAY || this.#name();
      if (!this.#take(close)) return false;
      this.#open.pop();
    }
  }

  #name(): boolean {
    this.space();
    if (!this.#string()) return false;
    this.space();
    return this.#take(COLON);
  }

  #scalar(first: number | undefined): boolean {
    switch (first) {
      case QUOTE: return this.#string();
      case 0x74: return this.#word("true");
      case 0x66: return this.#word("false");
      case 0x6e: return this.#word("null");
      default: return this.#number();
    }
  }

  #word(word: string): boolean {
    return Array.from(word).every((c) => this.#take(c.charCodeAt(0)));
  }

  #string(): boolean {
    if (!this.#take(QUOTE)) return false;
    for (;;) {
      const octet = this.#text[this.at];
      if (octet === undefined || octet < 0x20) return false;
      this.at++;
      if (octet === QUOTE) return true;
      if (octet === BACKSLASH && !this.#escape()) return false;
    }
  }

  #escape(): boolean {
    if (this.#take(0x75)) return [1, 2, 3, 4].every(() => this.#hexDigit());
    if (!ESCAPES.has(this.#text[this.at] ?? 0)) return false;
    this.at++;
    return true;
  }

  #hexDigit(): boolean {
    const octet = this.#text[this.at] ?? 0;
    const lower = octet | 0x20;
    const fits = isDigit(octet) || (lower >= 0x61 && lower <= 0x66);
    if (fits) this.at++;
    return fits;
  }

  #number(): boolean {
    this.#take(MINUS);
    if (!this.#take(0x30) && !this.#digits()) return false;
    if (this.#take(POINT) && !this.#digits()) return false;
    if (!this.#take(0x65) && !this.#take(0x45)) return true;
    if (!this.#take(PLUS)) this.#take(MINUS);
    return this.#digits();
  }

  /** One digit or more. */
  #digits(): boolean {
    const start = this.at;
    while (isDigit(this.#text[this.at] ?? 0)) this.at++;
    return this.at > start;
  }

  #take(octet: number): boolean {
    if (this.#text[this.at] !== octet) return false;
    this.at++;
    return true;
  }
}

function isDigit(octet: number): boolean {
  return octet >= 0x30 && octet <= 0x39;
}
