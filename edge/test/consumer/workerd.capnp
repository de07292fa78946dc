using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "internet", network = (allow = ["private"])), (name = "consumer", worker = (
    modules = [(name = "bundle.js", esModule = embed "bundle.js"), (name = "addrspec.wasm", wasm = embed "addrspec.wasm")],
    compatibilityDate = "2026-09-01",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "consumer")],
);
