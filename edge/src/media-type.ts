const JSON_TYPE = /^application\/json *(?:; *charset=utf-8 *)?$/i;

/** Whether a Content-Type is JSON in one of its usual forms; others may be JSON too. */
export function isJSON(contentType: string | null): boolean {
  return contentType !== null && JSON_TYPE.test(contentType);
}
