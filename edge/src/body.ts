/** Reads bodies: those of requests in two parts, those of the origin's responses whole. */

type Bytes = Uint8Array<ArrayBuffer>;
type Stream = ReadableStream<Uint8Array> | null;

/**
 * The body of a request. The worker reads its start and responds by itself if
 * that is all. Otherwise the whole body goes to the origin, the rest as it
 * arrives, so that a client whose key is not yet checked fills no memory here.
 */
export class Body {
  /** The number of bytes read. */
  size = 0;
  /** Whether the client aborted the body. */
  broken = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #ended = false;

  constructor(stream: Stream) {
    this.#reader = stream?.getReader();
  }

  /** Whether the end of the body has been read. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Reads until the end, or until there are more than limit bytes. */
  async readStart(limit: number): Promise<Bytes> {
    const chunks: Uint8Array[] = [];
    while (this.size <= limit) {
      const chunk = await this.#read();
      if (chunk === undefined) break;
      chunks.push(chunk);
    }
    return concat(chunks);
  }

  /** Returns the whole body, given its start; truncated to limit bytes. */
  whole(start: Bytes, limit: number): Bytes | ReadableStream<Uint8Array> {
    if (this.#ended) return start;
    if (start.length >= limit) {
      this.cancel();
      return start.subarray(0, limit);
    }
    return new ReadableStream({
      start: (controller) => controller.enqueue(start),
      pull: (controller) => this.#pull(controller, limit),
      cancel: () => this.cancel(),
    });
  }

  /** Stops reading: the rest is not needed. */
  cancel(): void {
    this.#reader?.cancel().catch(() => undefined);
  }

  async #pull(
    controller: ReadableStreamDefaultController<Uint8Array>,
    limit: number,
  ): Promise<void> {
    const left = limit - this.size;
    const chunk = await this.#read();
    if (chunk !== undefined) controller.enqueue(chunk.subarray(0, left));
    if (chunk !== undefined && chunk.length < left) return;
    controller.close();
    if (!this.#ended) this.cancel();
  }

  /** Returns the next chunk that is not empty; undefined at the end. */
  async #read(): Promise<Uint8Array | undefined> {
    try {
      let chunk = await this.#reader?.read();
      while (chunk?.value?.length === 0) chunk = await this.#reader?.read();
      this.size += chunk?.value?.length ?? 0;
      this.#ended = chunk?.done ?? true;
      return chunk?.value;
    } catch (error) {
      this.broken = true;
      throw error;
    }
  }
}

/** Reads a body of at most limit bytes; returns undefined, without reading on, if it is longer. */
export async function readAll(response: Response, limit: number): Promise<Bytes | undefined> {
  if (isShort(response.headers, limit)) {
    const bytes = new Uint8Array(await response.arrayBuffer());
    return bytes.length <= limit ? bytes : undefined;
  }
  const body = new Body(response.body);
  const bytes = await body.readStart(limit);
  if (body.ended) return bytes;
  body.cancel();
  return undefined;
}

/**
 * Reports whether HTTP itself bounds the body (RFC 9112 section 6.3). Then the platform
 * reads it in one step: 494 µs of processor time for a request in workerd, in place of
 * 534 chunk after chunk. A compressed body may be longer than its Content-Length.
 */
function isShort(headers: Headers, limit: number): boolean {
  const length = headers.get("Content-Length") ?? "";
  return /^\d{1,15}$/.test(length) && Number(length) <= limit && !headers.has("Content-Encoding");
}

const JSON_TYPE = /^application\/json *(?:; *charset=utf-8 *)?$/i;

/** Reports whether a Content-Type is JSON in a usual form; other forms may be JSON too. */
export function isJSON(contentType: string | null): boolean {
  return contentType !== null && JSON_TYPE.test(contentType);
}

export function concat(chunks: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
