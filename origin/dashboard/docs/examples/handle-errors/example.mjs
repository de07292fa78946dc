/** An error response of any shape. */
class Problem extends Error {
  constructor(response, body) {
    const inBatch = typeof body.error === "object" ? body.error : {};
    const code = inBatch.code ?? body.code ?? ""; // none with status 429
    const message = body.detail ?? inBatch.message ?? body.error;
    super(`${response.status} ${code}: ${message}`);
    this.status = response.status;
    this.code = code;
    this.retryAfter = response.headers.get("Retry-After"); // null if a retry does not help
    this.requestId = response.headers.get("X-Request-Id"); // for support
  }

  static async of(response) {
    // A response that is not JSON is not ours: a proxy sent it.
    const body = await response.json().catch(() => ({ error: response.statusText }));
    return new Problem(response, body);
  }
}

async function check(email) {
  const response = await fetch(`http://127.0.0.1:8080/v1/email/${encodeURIComponent(email)}`, {
    headers: { "X-API-Key": process.env.ADDRSPEC_KEY },
  });
  if (!response.ok) throw await Problem.of(response);
  return response.json();
}

try {
  await check("jane.@example.org");
} catch (problem) {
  console.log(problem.message);
}
