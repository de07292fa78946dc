// The part of Node's types that use.ts uses.
declare const process: { env: Record<string, string | undefined> };
