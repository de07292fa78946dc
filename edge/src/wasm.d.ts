declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

// Next.js compiles what is imported so.
declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}

// build.mjs makes the compressed module a part of the code.
declare module "*.wasm?gzip" {
  const compressed: Uint8Array<ArrayBuffer>;
  export default compressed;
}

// build.mjs puts its text into the program.
declare module "*.css" {
  const text: string;
  export default text;
}
