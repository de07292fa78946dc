import { type Fault, fault } from "./fault.ts";

/** The parameters of a media type (RFC 9110 section 8.3.1); a semicolon at the end is allowed. */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = `\\s*;\\s*(${TOKEN})\\s*=\\s*(${TOKEN}|"(?:[^"\\\\\\r\\n]|\\\\.)*")`;
const PARAMETERS = new RegExp(`^(?:${PARAMETER})*\\s*;?\\s*$`);

/** Why the headers do not declare plain JSON, as a batch must; undefined if they do. */
export function wrongMediaType(headers: Headers): Fault | undefined {
  if (!isJSON(headers.get("Content-Type") ?? "")) {
    return fault("UNSUPPORTED_MEDIA_TYPE",
      "Send the batch as JSON, with the header Content-Type: application/json.");
  }
  const encoding = headers.get("Content-Encoding") ?? "";
  if (encoding !== "" && encoding !== "identity") {
    return fault("UNSUPPORTED_MEDIA_TYPE", "Send the body without a Content-Encoding.");
  }
  return undefined;
}

export function isJSON(contentType: string): boolean {
  const semicolon = contentType.indexOf(";");
  const media = semicolon < 0 ? contentType : contentType.slice(0, semicolon);
  const parameters = semicolon < 0 ? "" : contentType.slice(semicolon);
  return media.trim().toLowerCase() === "application/json"
    && PARAMETERS.test(parameters) && !contradicts(parameters);
}

/** Whether a parameter occurs twice with different values. */
function contradicts(parameters: string): boolean {
  const seen = new Map<string, string>();
  for (const [, name = "", value = ""] of parameters.matchAll(new RegExp(PARAMETER, "g"))) {
    const before = seen.get(name.toLowerCase());
    if (before !== undefined && before !== value) return true;
    seen.set(name.toLowerCase(), value);
  }
  return false;
}
