/** Reads bodies: of requests in two parts, of the origin's answers whole. */

type Bytes = Uint8Array<ArrayBuffer>;
type Stream = ReadableStream<Uint8Array> | null;

/**
 * The body of a request. The worker reads the start of it and answers itself if
 * that is all. Otherwise all of it goes to the origin, the rest as it comes in,
 * so that a caller whose key is not yet judged fills no memory here.
 */
export class Body {
  /** How many bytes have come in. */
  size = 0;
  /** Whether the caller broke off. */
  broken = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #ended = false;

  constructor(stream: Stream) {
    this.#reader = stream?.getReader();
  }

  /** Whether there is nothing after what was read. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Reads until the end, or until there are more than limit bytes. */
  async start(limit: number): Promise<Bytes> {
    const pieces: Uint8Array[] = [];
    while (this.size <= limit) {
      const piece = await this.#next();
      if (piece === undefined) break;
      pieces.push(piece);
    }
    return concat(pieces, this.size);
  }

  /** The whole body, given its start; cut off after limit bytes. */
  from(start: Bytes, limit: number): Bytes | ReadableStream<Uint8Array> {
    if (this.#ended) return start;
    if (start.length >= limit) {
      this.cancel();
      return start.subarray(0, limit);
    }
    return new ReadableStream({
      start: (controller) => controller.enqueue(start),
      pull: (controller) => this.#pass(controller, limit),
      cancel: () => this.cancel(),
    });
  }

  /** Ends the reading: the rest is not needed. */
  cancel(): void {
    this.#reader?.cancel().catch(() => undefined);
  }

  async #pass(
    controller: ReadableStreamDefaultController<Uint8Array>,
    limit: number,
  ): Promise<void> {
    const left = limit - this.size;
    const piece = await this.#next();
    if (piece !== undefined) controller.enqueue(piece.subarray(0, left));
    if (piece !== undefined && piece.length < left) return;
    controller.close();
    if (!this.#ended) this.cancel();
  }

  async #next(): Promise<Uint8Array | undefined> {
    try {
      let piece = await this.#reader?.read();
      while (piece?.value?.length === 0) piece = await this.#reader?.read();
      this.size += piece?.value?.length ?? 0;
      this.#ended = piece?.done ?? true;
      return piece?.value;
    } catch (failure) {
      this.broken = true;
      throw failure;
    }
  }
}

/** Reads a body of at most limit bytes; undefined, without reading on, if it is longer. */
export async function gather(stream: Stream, limit: number): Promise<Bytes | undefined> {
  const body = new Body(stream);
  const bytes = await body.start(limit);
  if (body.ended) return bytes;
  body.cancel();
  return undefined;
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
