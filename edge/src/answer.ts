/** An answer, decided but not yet sent. */
export interface Answer {
  readonly status: number;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  /** Beyond those that every answer has; undefined is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

const encoder = new TextEncoder();

/**
 * The answer as it is sent. Every answer is JSON, names its request and is kept
 * in no cache, for it may hold an address.
 */
export function render({ body, headers = {} }: Answer, requestID: string) {
  const all = new Headers({
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": requestID,
  });
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) all.set(name, value);
  }
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  if (bytes !== null) all.set("Content-Length", String(bytes.length));
  return { headers: all, body: bytes };
}

/** Makes the answer a Response; to HEAD, that to GET without the body (RFC 9110 section 9.3.2). */
export function respond(answer: Answer, requestID: string, method = "GET"): Response {
  const { headers, body } = render(answer, requestID);
  return new Response(method === "HEAD" ? null : body, { status: answer.status, headers });
}
