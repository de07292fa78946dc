# The worker, and one that runs its cron trigger when it gets a request.
using Workerd = import "/workerd/workerd.capnp";
using Edge = import "edge.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = Edge.edge),
    (name = "cron", worker = (
      modules = [(name = "cron.js", esModule = embed "cron.js")],
      compatibilityDate = "2026-09-01",
      compatibilityFlags = ["service_binding_extra_handlers"],
      bindings = [(name = "EDGE", service = "edge")],
    )),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "cron")],
);
