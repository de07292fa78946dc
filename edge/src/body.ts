import { type Fault, fault } from "./fault.ts";
import { wrongMediaType } from "./media-type.ts";

/** The most a batch's body may hold, in bytes. */
export const MAX_BODY = 1 << 20;

type Bytes = Uint8Array<ArrayBuffer>;
type Stream = ReadableStream<Uint8Array> | null;

/** Reads the body of a batch, JSON without an encoding, and no further than the limit. */
export async function readBody(headers: Headers, body: Stream): Promise<Bytes | Fault> {
  const wrong = wrongMediaType(headers);
  if (wrong) return wrong;
  if (Number(headers.get("Content-Length")) > MAX_BODY) return tooLarge();
  try {
    return (await gather(body, MAX_BODY)) ?? tooLarge();
  } catch {
    return fault("INVALID_REQUEST", "The body broke off.");
  }
}

/** Reads a body of at most limit bytes; undefined, without reading on, if it is longer. */
export async function gather(body: Stream, limit: number): Promise<Bytes | undefined> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    pieces.push(piece.value);
    size += piece.value.length;
    if (size > limit) {
      reader.cancel().catch(() => undefined); // the rest is not needed
      return undefined;
    }
  }
  return concat(pieces, size);
}

/** Joins pieces that hold size bytes in all. */
export function concat(pieces: readonly Uint8Array[], size: number): Bytes {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function tooLarge(): Fault {
  return fault("BODY_TOO_LARGE",
    "The body is over 1 MiB (1,048,576 bytes); send fewer addresses at a time.");
}
