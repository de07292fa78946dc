// Runs the function of a directory against the Runtime API of AWS Lambda at
// AWS_LAMBDA_RUNTIME_API: in AWS's runtime interface client, which has to be compiled, or as
// it does:
//
//   node lambda.mjs DIRECTORY [node_modules/aws-lambda-ric/dist/index.mjs]
//
// File descriptor 3 gets a line at the start: the client sends logs to standard output.

import { writeSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [directory, client] = process.argv.slice(2);
if (client !== undefined) {
  writeSync(3, "AWS's runtime interface client starts\n");
  const { run } = await import(pathToFileURL(resolve(client)));
  await run(resolve(directory), "index.handler");
  await new Promise(() => {}); // it has no end
}

const invocations = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;
const { handler } = await import(pathToFileURL(resolve(directory, "index.mjs")));
writeSync(3, "the function is ready\n");
for (;;) {
  const next = await fetch(`${invocations}/next`);
  const id = next.headers.get("Lambda-Runtime-Aws-Request-Id");
  const [outcome, body] = await handler(await next.json()).then(
    (result) => ["response", result],
    (error) => ["error", { errorMessage: String(error) }],
  );
  await fetch(`${invocations}/${id}/${outcome}`, { method: "POST", body: JSON.stringify(body) });
}
