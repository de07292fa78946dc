import { type Fault, fault } from "./fault.ts";
import { wrongMediaType } from "./media-type.ts";

/** The most a batch's body may hold, in octets. */
export const MAX_BODY = 1 << 20;

/** Takes the body of a batch: JSON, unencoded, within the limit; not read further than that. */
export async function readBody(headers: Headers, body: ReadableStream<Uint8Array> | null): Promise<Uint8Array<ArrayBuffer> | Fault> {
  const wrong = wrongMediaType(headers);
  if (wrong) return wrong;
  if (Number(headers.get("Content-Length")) > MAX_BODY) return tooLarge();
  try {
    return (await gather(body, MAX_BODY)) ?? tooLarge();
  } catch {
    return fault("INVALID_REQUEST", "The body broke off.");
  }
}

/** Reads a body of at most limit octets; undefined, and no further, where it is longer. */
export async function gather(body: ReadableStream<Uint8Array> | null, limit: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    pieces.push(piece.value);
    size += piece.value.length;
    if (size > limit) {
      reader.cancel().catch(() => undefined); // nobody waits for the rest
      return undefined;
    }
  }
  return concat(pieces, size);
}

/** Joins pieces that hold size octets in all. */
export function concat(pieces: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function tooLarge(): Fault {
  return fault("BODY_TOO_LARGE", "The body is over 1 MiB (1,048,576 octets); send fewer addresses at a time.");
}
