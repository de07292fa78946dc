/** An answer, decided but not yet sent. */
export interface Answer {
  readonly status: number;
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Beyond those that every answer has; undefined is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/**
 * Makes the answer a Response. Every answer is JSON, names its request and is
 * kept in no cache, for it may hold an address.
 */
export function respond({ status, body, headers = {} }: Answer, requestID: string): Response {
  const all = new Headers({
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": requestID,
  });
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) all.set(name, value);
  }
  return new Response(body, { status, headers: all });
}
