// Runs the function of a directory against the Runtime API of AWS Lambda at
// AWS_LAMBDA_RUNTIME_API, as AWS's runtime interface client does, which npm has to compile:
//
//   node lambda.mjs DIRECTORY

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const invocations = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;
const { handler } = await import(pathToFileURL(resolve(process.argv[2], "index.mjs")));
console.log("the function is ready");
for (;;) {
  const next = await fetch(`${invocations}/next`);
  const id = next.headers.get("Lambda-Runtime-Aws-Request-Id");
  const [outcome, body] = await handler(await next.json()).then(
    (result) => ["response", result],
    (error) => ["error", { errorMessage: String(error) }],
  );
  await fetch(`${invocations}/${id}/${outcome}`, { method: "POST", body: JSON.stringify(body) });
}
