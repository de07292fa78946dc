declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

// Next.js compiles what is imported so.
declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}
