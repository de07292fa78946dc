# Configures the worker in workerd, the runtime of Cloudflare Workers, on your
# own machine. build.sh copies this file beside the bundle, compiles both to
# workerd.bin, and runs
#
#   workerd serve --binary workerd.bin --socket-addr http=HOST:PORT
#
# with the settings in the environment. After a change, compile it again, or serve this
# file, without --binary, which starts slower:
#
#   workerd compile --config-only workerd.capnp >workerd.bin
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = .edge),
    # Unlike on Cloudflare, the origin may be on this machine or network.
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8787", http = (), service = "edge")],
);

const edge :Workerd.Worker = (
  modules = [
    (name = "cloudflare.js", esModule = embed "cloudflare.js"),
    (name = "addrspec.wasm", wasm = embed "addrspec.wasm"),
  ],
  compatibilityDate = "2026-09-01",
  bindings = [
    (name = "ADDRSPEC_ORIGIN", fromEnvironment = "ADDRSPEC_ORIGIN"),
    (name = "ADDRSPEC_EDGE_SECRET", fromEnvironment = "ADDRSPEC_EDGE_SECRET"),
    (name = "ADDRSPEC_ORIGIN_TIMEOUT_MS", fromEnvironment = "ADDRSPEC_ORIGIN_TIMEOUT_MS"),
    (name = "ADDRSPEC_TYPO_SUGGESTION", fromEnvironment = "ADDRSPEC_TYPO_SUGGESTION"),
    (name = "ADDRSPEC_FORWARD", fromEnvironment = "ADDRSPEC_FORWARD"),
    (name = "ADDRSPEC_LISTS_URL", fromEnvironment = "ADDRSPEC_LISTS_URL"),
    (name = "ADDRSPEC_LISTS_KEY", fromEnvironment = "ADDRSPEC_LISTS_KEY"),
    (name = "ADDRSPEC_LISTS_INTERVAL", fromEnvironment = "ADDRSPEC_LISTS_INTERVAL"),
  ],
);
